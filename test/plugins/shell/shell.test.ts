import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import shell from "../../../plugins/shell/index.ts";
import { HeadAndTail } from "../../../plugins/shell/output.ts";
import { callTool, toolContract } from "../../../src/testing.ts";
import { approving, createShell, makeWorkspace, runningWith, secret, type Workspace, ways } from "./workspace.ts";

const workspace: Workspace = makeWorkspace();
after(() => workspace.remove());

const script = (name: string, text: string) => {
  writeFileSync(join(workspace.root, name), text);
  return { name: "script", argv: ["/bin/sh", name] };
};
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    (value) => expect.fail(`it answered ${JSON.stringify(value)}`),
    (thrown) => thrown,
  );

for (const sandbox of ways) {
  const create = async (given: Record<string, unknown> = {}) =>
    approving(await createShell(workspace, { sandbox, commands: ["cat", "echo"], ...given }));

  toolContract(`shell (${sandbox})`, {
    create: () => create({ commands: ["echo", { name: "wait", argv: ["sleep", "60"] }] }),
    samples: [{ tool: "shell", input: { command: "echo", arguments: ["a b", "$HOME"] } }],
    misfits: [
      { tool: "shell", input: { command: "bash" } },
      { tool: "shell", input: { command: "echo", arguments: "a" } },
      { tool: "shell", input: { command: "echo", shell: true } },
    ],
    failures: [
      { tool: "shell", input: { command: "wait", arguments: ["1"] } },
      { tool: "shell", input: { command: "echo", directory: "nowhere" } },
    ],
    endless: { tool: "shell", input: { command: "wait" } },
  });

  describe(`shell (${sandbox})`, () => {
    it("passes arguments as they are and answers exit status, stdout and stderr", async () => {
      const { output, progress } = await callTool(await create(), {
        command: "echo",
        arguments: ["a  b", "$HOME", "*"],
      });
      expect(output).to.deep.equal({ exit: 0, stdout: "a  b $HOME *\n", stderr: "" });
      expect(progress).to.deep.equal(["a  b $HOME *\n"]);
      const missing = await callTool(await create(), { command: "cat", arguments: ["nothing"] });
      expect(missing.output).to.have.property("exit", 1);
      expect(missing.output).to.have.property("stderr").that.contains("No such file");
    });

    it("runs commands in sequence, under one limit of time", async () => {
      const made = await create({ commands: ["echo", { name: "wait", argv: ["sleep", "60"] }] });
      const step = (word: string) => ({ command: "echo", arguments: [word] });
      const both = await callTool(made, { ...step("a"), next: [step("b")], timeoutMs: 20_000 });
      expect(both.output).to.have.nested.property("results[0].stdout", "a\n");
      expect(both.output).to.have.nested.property("results[1].stdout", "b\n");
      const late = await callTool(made, { ...step("a"), next: [{ command: "wait" }, step("c")], timeoutMs: 700 });
      expect(late.output).to.have.property("results").with.length(2);
      expect(late.output).to.have.nested.property("results[1].timedOut", true);
    });

    it("hands stdin over", async () => {
      const { output } = await callTool(await create(), { command: "cat", stdin: "grüße" });
      expect(output).to.have.property("stdout", "grüße");
    });

    it("gives commands nothing of the service's environment but what the config names, and takes its values out of the output", async () => {
      process.env.VENTURI_TEST_TOKEN = secret;
      process.env.VENTURI_TEST_OTHER = "other-secret";
      const tool = await create({
        commands: [{ name: "env", argv: ["env"] }],
        env: { API_KEY: "key-from-config" },
        passEnv: ["VENTURI_TEST_TOKEN", "NOT_SET"],
      });
      const { output, progress } = await callTool(tool, { command: "env" });
      delete process.env.VENTURI_TEST_TOKEN;
      delete process.env.VENTURI_TEST_OTHER;
      const told = JSON.stringify([output, progress]);
      expect(told).not.to.match(/SECRET|other-secret|key-from-config/);
      expect(told).to.contain("API_KEY=[API_KEY]").and.to.contain("VENTURI_TEST_TOKEN=[VENTURI_TEST_TOKEN]");
      // Node hands its own coverage folder on to every child, when the tests run under coverage. bash counts its levels.
      const names = [...told.matchAll(/([A-Z_\d]+)=/g)]
        .map((match) => match[1])
        .filter((name) => !["NODE_V8_COVERAGE", "SHLVL", "_"].includes(name ?? ""));
      expect(new Set(names)).to.deep.equal(
        new Set([
          "PATH",
          "HOME",
          "LANG",
          "TERM",
          "GIT_CEILING_DIRECTORIES",
          "PWD",
          "VENTURI_CALL",
          "API_KEY",
          "VENTURI_TEST_TOKEN",
        ]),
      );
    });

    it("keeps the head and the tail of a long output and says how much is missing", async () => {
      const tool = await create({ commands: [{ name: "count", argv: ["seq", "1", "200000"] }], maxOutput: "1KiB" });
      const { output, progress } = await callTool(tool, { command: "count" });
      const { stdout, truncated } = output as { stdout: string; truncated: boolean };
      expect(stdout)
        .to.match(/^1\n2\n3\n/)
        .and.to.match(/199999\n200000\n$/)
        .and.to.contain("1287871 bytes left out");
      expect(truncated).to.equal(true);
      expect(stdout.length).to.be.below(1_100);
      expect(progress.join("").length).to.be.at.most(1_024);
    });

    it("streams lines while the command runs", async () => {
      const tool = await create({ commands: [script("lines.sh", "echo one; read wait < pipe; echo two")] });
      writeFileSync(join(workspace.root, "mk.sh"), "mkfifo pipe");
      await callTool(await create({ commands: [{ name: "mk", argv: ["/bin/sh", "mk.sh"] }] }), { command: "mk" });
      const seen: string[] = [];
      const progress = (text: string) => {
        seen.push(text);
        // The script goes on only when this is written: so "one" came before its end.
        if (seen.length === 1) writeFileSync(join(workspace.root, "pipe"), "go\n");
      };
      await callTool(tool, { command: "script" }, { progress });
      expect(seen).to.deep.equal(["one\n", "two\n"]);
    });

    it("ends a command after its time, tells what it said last, and leaves nothing running", async () => {
      const commands = [script("slow.sh", "echo before; sleep 60.0125; true")];
      let told = "";
      // On a busy machine a short time is over before the command has said anything.
      for (const timeout of ["300ms", "3s", "30s"]) {
        const thrown = await failureOf(callTool(await create({ commands, timeout }), { command: "script" }));
        expect(thrown.code).to.equal("tool_timeout");
        expect(runningWith("sleep 60.0125")).to.deep.equal([]);
        told = thrown.message;
        if (told.includes("before")) break;
      }
      expect(told).to.contain("before");
    });
  });
}

describe("shell", () => {
  const create = (given: Record<string, unknown>) => createShell(workspace, { sandbox: "approve", ...given });

  it("refuses programs that are not there, and paths that are no programs", async () => {
    for (const name of ["no-such-program", "hello.txt"]) {
      const commands = [{ name, argv: [name] }];
      expect((await failureOf(create({ commands }))).message).to.contain("is not in");
    }
    expect((await failureOf(create({ commands: ["cat"], path: ["/nonexistent"] }))).message).to.contain("is not in");
    expect(shell.options.safeParse({ cwd: ".", commands: ["./run.sh"] }).success).to.equal(false);
    expect((await failureOf(create({ cwd: "nowhere", commands: ["cat"] }))).code).to.equal("config_invalid");
  });

  it("a stream in pieces of any size gives the same head and tail", () => {
    const bytes = Buffer.from(Array.from({ length: 1_000 }, (_, n) => String(n % 10)).join(""));
    for (const size of [1, 7, 100, 1_000]) {
      const kept = new HeadAndTail(100);
      for (let at = 0; at < bytes.length; at += size) kept.push(bytes.subarray(at, at + size));
      expect(kept.text(), `pieces of ${size}`).to.equal(
        `${"0123456789".repeat(5)}\n… 900 bytes left out …\n${"0123456789".repeat(5)}`,
      );
    }
  });
});
