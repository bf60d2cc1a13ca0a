import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { argumentsOf, CommandOptions, findProgram, resolveCommand } from "../../../plugins/shell/commands.ts";
import { HeadAndTail } from "../../../plugins/shell/output.ts";
import { adaptVendorCall } from "../../../plugins/shell/vendor-calls.ts";
import { splitWords } from "../../../plugins/shell/words.ts";
import type { VenturiError } from "../../../src/plugin.ts";

describe("a command line in words", () => {
  for (const [text, words] of [
    ["ls -la  src\tx", ["ls", "-la", "src", "x"]],
    [" ls ", ["ls"]],
    ["", []],
    ["echo 'a b' \"c d\"", ["echo", "a b", "c d"]],
    ["echo a'b c'd\"e\"", ["echo", "ab cde"]],
    ["echo ''", ["echo", ""]],
    ["echo \"it's\" '\"'", ["echo", "it's", '"']],
    ["echo a\\ b \\$x", ["echo", "a b", "$x"]],
    ["echo '$x `y` \\'", ["echo", "$x `y` \\"]],
    ["echo a=b", ["echo", "a=b"]],
  ] as const) {
    it(`is split as a shell does: ${text}`, () => {
      expect(splitWords(text)).to.deep.equal(words);
    });
  }

  for (const text of [
    "a | b",
    "a && b",
    "a; b",
    "a > b",
    "a < b",
    "(a)",
    "echo $x",
    "echo `x`",
    "ls *",
    "ls ?",
    "ls [a]",
    "ls {a,b}",
    "ls ~",
    "a # b",
    "a ! b",
    "a\nb",
    "a\rb",
    'echo "$x"',
    'echo "`x`"',
    'echo "a\\b"',
    "echo 'a",
    'echo "a',
    "echo a\\",
    "echo a\\\nb",
    "X=1 ls",
    "'X=1' ls",
  ]) {
    it(`is left to a shell when only one can run it: ${JSON.stringify(text)}`, () => {
      expect(splitWords(text)).to.equal(undefined);
    });
  }
});

describe("a vendor's shell call", () => {
  const exec = (command: unknown, more: object = {}) => adaptVendorCall({ action: { type: "exec", command, ...more } });

  it("of one argv is one step, in its folder and time", () => {
    expect(exec(["ls", "-la"], { working_directory: "src", timeout_ms: 500, env: {}, user: null })).to.deep.equal({
      command: "ls",
      arguments: ["-la"],
      directory: "src",
      timeoutMs: 500,
    });
    expect(exec(["ls"], { working_directory: "", timeout_ms: "5" })).to.deep.equal({ command: "ls", arguments: [] });
    expect(exec([])).to.deep.equal({ command: "", arguments: [] });
    expect(exec(["a", 7])).to.deep.equal({ command: "a", arguments: ["7"] });
  });

  it("keeps what it has no word for, so that it is refused by name", () => {
    expect(exec(["ls"], { env: { A: "1" }, user: "root" })).to.deep.include({ env: { A: "1" }, user: "root" });
    expect(adaptVendorCall({ action: { command: ["ls"] }, environment: {}, stdin: "x" })).to.deep.equal({
      command: "ls",
      arguments: [],
      stdin: "x",
    });
  });

  it("of a shell with a text is what the text says", () => {
    for (const shell of ["sh", "bash", "zsh", "dash", "/bin/sh", "/bin/bash", "/usr/bin/zsh"])
      for (const flags of ["-c", "-lc", "-ec", "-elc"])
        expect(exec([shell, flags, "ls -la"]), `${shell} ${flags}`).to.deep.equal({
          command: "ls",
          arguments: ["-la"],
        });
    for (const argv of [
      ["fish", "-c", "ls"],
      ["/opt/bin/sh", "-c", "ls"],
      ["xsh", "-c", "ls"],
      ["sh", "-x", "ls"],
      ["sh", "-cx", "ls"],
      ["sh", "-c", "ls", "more"],
      ["sh", "-c"],
      ["bash", "script.sh"],
    ])
      expect(exec(argv), argv.join(" ")).to.deep.equal({ command: argv[0], arguments: argv.slice(1) });
  });

  it("takes the folder of a cd before it, and leaves what only a shell can run to sh", () => {
    const text = (words: string) => exec(["bash", "-lc", words]);
    expect(text(" cd  src/deep && ls -a")).to.deep.equal({ command: "ls", arguments: ["-a"], directory: "src/deep" });
    expect(text("cd src && echo 'a\nb'")).to.deep.equal({ command: "echo", arguments: ["a\nb"], directory: "src" });
    for (const words of ["ls | wc", "cd src && ls | wc", "cd 'a b' && ls", "cd src && ", "  ", "echo cd src && ls"])
      expect(text(words), words).to.deep.equal({ command: "sh", arguments: [words] });
  });

  it("of several texts is a sequence, with the bounds of all", () => {
    const action = { commands: ["ls", "cd src && cat a"], timeout_ms: 9, max_output_length: 100 };
    expect(adaptVendorCall({ action })).to.deep.equal({
      command: "ls",
      arguments: [],
      next: [{ command: "cat", arguments: ["a"], directory: "src" }],
      timeoutMs: 9,
      maxOutput: 100,
    });
    expect(adaptVendorCall({ action: { commands: [], max_output_length: null } })).to.deep.equal({ next: [] });
  });

  it("without an action is left as it is", () => {
    for (const input of [{ command: "ls" }, { action: "ls", environment: 1 }, { action: null }])
      expect(adaptVendorCall(input)).to.equal(input);
  });
});

describe("the commands of a shell tool", () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "venturi-commands-")));
  after(() => rmSync(folder, { recursive: true }));
  const [first, second, outside] = ["first", "second", "outside"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const each of [first, second, outside]) mkdirSync(each);
  const program = (path: string, mode = 0o755) => {
    writeFileSync(path, "#!/bin/sh\n");
    chmodSync(path, mode);
  };
  program(join(first, "plain"), 0o644);
  program(join(second, "plain"));
  program(join(second, "tool"));
  mkdirSync(join(first, "tool"));
  symlinkSync(join(second, "tool"), join(outside, "link"));
  const failureOf = (promise: Promise<unknown>) =>
    promise.then(
      (value) => expect.fail(`it found ${value}`),
      (thrown: VenturiError) => thrown,
    );

  it("are found once, as the first file on the path that can be executed", async () => {
    const path = [first, second];
    expect(await findProgram("plain", path)).to.equal(join(second, "plain"));
    expect(await findProgram("tool", path), "a folder is no program").to.equal(join(second, "tool"));
    expect(await findProgram(join(second, "tool"), [])).to.equal(join(second, "tool"));
    const missing = await failureOf(findProgram("none", path));
    expect(missing).to.include({ op: "tool.create", code: "config_invalid" });
    expect(missing.message).to.include(`${first}:${second}`);
    expect((await failureOf(findProgram("second/tool", [folder]))).message).to.include("give its full path");
  });

  it("are not taken from where commands could replace them, by a link neither", async () => {
    const link = join(outside, "link");
    expect((await failureOf(findProgram("link", [outside], second))).message).to.include("could replace it");
    expect(await findProgram(link, [], outside), "where the file itself is").to.equal(link);
    expect(await findProgram(link, [], join(folder, "sec")), "a name that begins the same").to.equal(link);
  });

  it("have fixed arguments first, and take others only where they may", async () => {
    const path = [second];
    const plain = await resolveCommand(CommandOptions.parse("tool"), path);
    expect(plain).to.deep.equal({
      name: "tool",
      description: undefined,
      program: join(second, "tool"),
      prefix: [],
      arguments: "any",
    });
    expect(argumentsOf(plain, ["a", "b"])).to.deep.equal(["a", "b"]);
    const spelled = { name: "run", argv: ["tool", "--fixed"], description: "Runs it" };
    const fixed = await resolveCommand(CommandOptions.parse(spelled), path);
    expect(fixed).to.deep.include({ name: "run", description: "Runs it", prefix: ["--fixed"], arguments: "none" });
    expect(argumentsOf(fixed, [])).to.deep.equal(["--fixed"]);
    for (const [command, given] of [
      [fixed, ["x"]],
      [plain, ["a", "b\0c"]],
    ] as const)
      expect(() => argumentsOf(command, given))
        .to.throw()
        .that.includes({ op: "tool.call", code: "tool_denied" });
  });

  it("have plain names, and what is gone is refused with the way on", () => {
    const wrong = (given: unknown) => JSON.stringify(CommandOptions.safeParse(given).error?.issues ?? "taken");
    for (const name of ["ls", "7z", "a.out", "g++", "x_y-z"]) expect(wrong(name)).to.equal('"taken"');
    for (const name of ["", "./ls", "-x", "a b", "a/b", ".x"]) expect(wrong(name), name).to.include("plain name");
    expect(wrong({ name: "x", argv: ["x"], allow: [], deny: [] })).to.include("allow and deny are gone");
    expect(wrong({ name: "x", argv: ["x"], allow: [], other: 1 })).not.to.include("are gone");
    expect(wrong({ name: "x", argv: ["x"], arguments: "checked" })).to.include("checked is gone");
    expect(wrong({ name: "x", argv: ["x"], arguments: "some" })).not.to.include("gone");
    for (const argv of [[], [""]]) expect(wrong({ name: "x", argv })).not.to.equal('"taken"');
  });
});

describe("a long output", () => {
  const kept = (most: number, ...pieces: string[]) => {
    const output = new HeadAndTail(most);
    for (const piece of pieces) output.push(Buffer.from(piece));
    return [output.text(), output.truncated];
  };

  it("is whole up to its limit, and a byte more is left out of the middle", () => {
    expect(kept(4)).to.deep.equal(["", false]);
    expect(kept(4, "ab")).to.deep.equal(["ab", false]);
    expect(kept(4, "abcd")).to.deep.equal(["abcd", false]);
    expect(kept(4, "abc", "d")).to.deep.equal(["abcd", false]);
    expect(kept(4, "abcde")).to.deep.equal(["ab\n… 1 bytes left out …\nde", true]);
    expect(kept(4, "a", "b", "c", "d", "e", "f")).to.deep.equal(["ab\n… 2 bytes left out …\nef", true]);
    expect(kept(4, "abc", "defgh", "i")).to.deep.equal(["ab\n… 5 bytes left out …\nhi", true]);
    expect(kept(0, "abc")).to.deep.equal(["a\n… 1 bytes left out …\nc", true]);
    expect(kept(5, "abcdé")).to.deep.equal(["ab\n… 2 bytes left out …\né", true]);
  });

  it("is whole with a character that lies across its halves", () => {
    expect(kept(4, "aéb")).to.deep.equal(["aéb", false]);
  });
});
