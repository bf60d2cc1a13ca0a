import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { expect } from "chai";
import type { Command } from "../../../plugins/shell/command.ts";
import { resolveCommand } from "../../../plugins/shell/commands.ts";
import { gitSubcommands } from "../../../plugins/shell/git-grammar.ts";
import type { Grammar } from "../../../plugins/shell/grammar.ts";
import { checkArguments, isHarmless } from "../../../plugins/shell/guard.ts";
import { programs } from "../../../plugins/shell/programs.ts";
import { isSlow, sampled } from "../../sweep.ts";
import { makeRepository, makeWorkspace, type Workspace } from "./workspace.ts";

const path = ["/usr/bin", "/bin"];
const letters = [..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.?@%"];
const installed = sampled(
  [...programs.keys()].filter((name) => path.some((folder) => existsSync(`${folder}/${name}`))),
  6,
);
const subcommands = sampled(gitSubcommands, 6);
const leastTried = isSlow ? 10_000 : 1_500;

/** What a program says it can be given; git prints its subcommands' options on stdout and exits with 129. */
function helpOf(argv: readonly string[]): string {
  const [program = "", ...rest] = argv;
  const environment = { PATH: path.join(":"), HOME: "/nonexistent", LANG: "C" };
  try {
    return execFileSync(program, rest, {
      encoding: "utf8",
      cwd: "/",
      env: environment,
      stdio: ["ignore", "pipe", "pipe"],
    });
  } catch (thrown) {
    const { stdout, stderr } = thrown as { stdout: string; stderr: string };
    return stdout + stderr;
  }
}

function optionsIn(help: string): { long: string[]; short: string[]; words: string[] } {
  const found = (pattern: RegExp) => [...new Set([...help.matchAll(pattern)].map((match) => match[1] ?? ""))];
  const long = found(/(?<![\w-])(--[A-Za-z][\w-]*)/g);
  // "--[no-]edit" stands for both.
  for (const name of found(/--\[no-\]([\w-]+)/g)) long.push(`--${name}`, `--no-${name}`);
  return { long, short: found(/(?<![\w-])(-[A-Za-z0-9.])(?![\w-])/g), words: found(/(?<![\w-])(-[a-z][\w-]+)/g) };
}

/** Every option that is not in the grammar, and every beginning of every long one. */
function* unlisted(grammar: Grammar, help: string): Generator<string[]> {
  const found = optionsIn(help);
  const allowed = [...grammar.options.keys()];
  const names = new Set([...found.long, ...found.words, ...found.short, ...letters.map((letter) => `-${letter}`)]);
  for (const name of [...names, ...allowed]) {
    const beginnings = name.startsWith("--")
      ? Array.from({ length: name.length - 2 }, (_, at) => name.slice(0, at + 3))
      : [name];
    for (const beginning of beginnings) {
      if (grammar.options.has(beginning)) continue;
      if (grammar.digits && /^-\d$/.test(beginning)) continue;
      if (!beginning.startsWith("--") && beginning.length > 2 && !grammar.words) continue; // a cluster: see below
      yield [beginning];
      yield [`${beginning}=hello.txt`];
      yield [beginning, "hello.txt"];
      yield ["hello.txt", "hello.txt", beginning];
    }
  }
  if (grammar.words) return;
  const flags = allowed.filter((name) => /^-[^-]$/.test(name) && grammar.options.get(name)?.value === "none");
  for (const letter of letters) {
    if (grammar.options.has(`-${letter}`)) continue;
    for (const flag of flags.slice(0, 5)) yield [`${flag}${letter}`, "hello.txt", "hello.txt"];
  }
}

describe("shell options", () => {
  let workspace: Workspace;
  before(() => {
    workspace = makeWorkspace();
    makeRepository(workspace);
  });
  after(() => workspace.remove());

  const verdict = async (command: Command, argv: readonly string[]) => {
    const place = { jail: { root: workspace.root }, directory: workspace.root };
    return await checkArguments(command, argv, place).then(
      () => "allowed",
      (thrown) => String(thrown.code),
    );
  };
  const refusesAll = async (command: Command, lines: Iterable<string[]>): Promise<number> => {
    let count = 0;
    for (const argv of lines) {
      expect(await verdict(command, argv), `${command.name} ${argv.join(" ")}`).to.equal("tool_denied");
      count++;
    }
    return count;
  };

  it(`${installed.length} programs take no option of their --help beyond the list, no abbreviation and no cluster with one`, async () => {
    let count = 0;
    for (const name of installed) {
      const grammar = programs.get(name) as Grammar;
      const command = await resolveCommand(name, path);
      count += await refusesAll(command, unlisted(grammar, helpOf([command.program, "--help"])));
    }
    expect(count).to.be.above(leastTried);
  }).timeout(60_000);

  it(`${subcommands.length} subcommands of git take no option of their -h beyond the list, and no abbreviation`, async () => {
    const git = await resolveCommand("git", path);
    let count = 0;
    for (const [name, grammar] of subcommands) {
      const lines = [...unlisted(grammar, helpOf([git.program, name, "-h"]))].map((argv) => [name, ...argv]);
      count += await refusesAll(git, lines);
    }
    expect(count).to.be.above(leastTried);
  }).timeout(60_000);

  it("git takes no other subcommand of its own, and no global option", async () => {
    const git = await resolveCommand("git", path);
    const all = helpOf([git.program, "--list-cmds=builtins,main,others,nohelpers"]).split(/\s+/);
    const others = all.filter((name) => name !== "" && !gitSubcommands.has(name));
    expect(others).to.include.members(["config", "fetch", "clone", "submodule", "bisect"]);
    await refusesAll(
      git,
      others.map((name) => [name]),
    );
    await refusesAll(
      git,
      optionsIn(helpOf([git.program, "--help"])).long.map((name) => [name, "log"]),
    );
  });

  it("values are checked: numbers are numbers, and a value that another system's program takes for an operand stays inside", async () => {
    const refused: [string, string[]][] = [
      ["head", ["-n", "hello.txt"]],
      ["head", ["-n/etc/passwd"]],
      ["grep", ["-A", "/etc/passwd", "x"]],
      ["grep", ["-e", "/etc/passwd"]],
      ["grep", ["--file=../outside/secret.txt", "hello.txt"]],
      ["grep", ["-f", "link-file", "hello.txt"]],
      ["grep", ["-e", "--file=link-file", "hello.txt"]],
      ["ls", ["-I", "/"]],
      ["date", ["010100002030"]],
      ["touch", ["-r", "link-file", "x"]],
      ["git", ["log", "--format=%G?"]],
      ["git", ["log", "--pretty=%GK"]],
      ["git", ["log", "-n", "hello"]],
      ["uniq", ["hello.txt", "made.txt"]],
      ["diff", ["src", "hello.txt"]],
      ["diff", ["src", "."]],
      ["cp", ["hello.txt", "src"]],
      ["cp", ["hello.txt", ".git/config"]],
      ["mv", ["hello.txt", ".GIT/config"]],
      ["mkdir", ["-p", "src/.git/hooks"]],
      ["tee", [".git/config"]],
      ["rm", ["-r", ".git"]],
    ];
    for (const [name, argv] of refused) await refusesAll(await resolveCommand(name, path), [argv]);
  });

  it("a fixed command line is harmless only if it could have been given as checked arguments", () => {
    expect(isHarmless("cat", ["/etc/hosts"])).to.equal(true);
    expect(isHarmless("git", ["log", "--oneline"])).to.equal(true);
    expect(isHarmless("git", ["-c", "core.pager=x", "log"])).to.equal(false);
    expect(isHarmless("sort", ["--compress-program=x"])).to.equal(false);
    expect(isHarmless("npm", ["test"])).to.equal(false);
  });
});
