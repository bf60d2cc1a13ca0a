import { existsSync, mkdirSync, renameSync, rmdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { childEnvironment, outputRedactor } from "../../../plugins/shell/environment.ts";
import { isInside, openDirectory, openJail } from "../../../plugins/shell/jail.ts";
import { ShellOptions } from "../../../plugins/shell/options.ts";
import type { ApprovalQuestion, Tool, Verdict } from "../../../src/core/ports/tool.ts";
import type { VenturiError } from "../../../src/plugin.ts";
import { silentToolContext } from "../../../src/testing/tool-call.ts";
import { callTool } from "../../../src/testing.ts";
import { approving, createShell, makeWorkspace, type Workspace } from "./workspace.ts";

const failureOf = (promise: Promise<unknown>): Promise<VenturiError> =>
  promise.then(
    (value) => expect.fail(`it answered ${JSON.stringify(value)}`),
    (thrown) => thrown,
  );
const sh = { name: "sh", argv: ["sh", "-c"], arguments: "any" };
const run = (text: string) => ({ command: "sh", arguments: [text] });

describe("the steps of a shell call", () => {
  let workspace: Workspace;
  before(() => {
    workspace = makeWorkspace();
  });
  after(() => workspace.remove());
  const create = (given: object = {}) =>
    createShell(workspace, { sandbox: "approve", commands: [sh, "cat"], killAfter: 50, ...given });
  const made = async (given: object = {}) => approving(await create(given));
  const output = async (tool: Tool, input: object, context: object = {}) =>
    (await callTool(tool, input as never, context)).output as Record<string, unknown>;
  type Results = { results: Record<string, unknown>[] };

  it("answer with status, signal and both outputs", async () => {
    const tool = await made();
    expect(await output(tool, run("echo out; echo err >&2; exit 3"))).to.deep.equal({
      exit: 3,
      stdout: "out\n",
      stderr: "err\n",
    });
    expect(await output(tool, run("kill -9 $$"))).to.deep.equal({
      exit: null,
      signal: "SIGKILL",
      stdout: "",
      stderr: "",
    });
  });

  it("run in their own folders, each after the other, and a status does not stop the next", async () => {
    const tool = await made();
    const next = [{ ...run("pwd; cat"), directory: "src" }, run("pwd")];
    const { results } = (await output(tool, { ...run("cat; exit 1"), stdin: "in", next })) as unknown as Results;
    expect(results.map(({ exit, stdout }) => [exit, stdout])).to.deep.equal([
      [1, "in"],
      [0, `${join(workspace.root, "src")}\nin`],
      [0, `${workspace.root}\n`],
    ]);
  });

  it("share one output, and one time: what comes too late is told, and nothing after it runs", async () => {
    const tool = await made({ maxOutput: 40 });
    const long = run("printf %0100d 7");
    const { results } = (await output(tool, { ...long, next: [long] })) as unknown as Results;
    for (const each of results) {
      expect(each.truncated).to.equal(true);
      expect(each.stdout).to.equal(`${"0".repeat(10)}\n… 80 bytes left out …\n${"0".repeat(9)}7`);
    }
    const fewer = await output(tool, { ...long, maxOutput: 10 });
    expect(fewer.stdout).to.include("… 90 bytes left out …");
    const more = await output(tool, { ...long, maxOutput: 4_000 });
    expect(more.stdout, "not more than the config allows").to.include("… 60 bytes left out …");
    expect(await output(tool, run("printf %0100d 7 >&2"))).to.include({ stdout: "", truncated: true });
    const slow = { ...run("echo first"), next: [run("echo begun; sleep 60"), run("echo never")], timeoutMs: 1_500 };
    const { results: late } = (await output(tool, slow)) as unknown as Results;
    expect(late[0]).to.deep.include({ exit: 0, stdout: "first\n" });
    expect(late[1]).to.deep.include({ exit: null, timedOut: true, stdout: "" });
    expect(String(late[1]?.stderr)).to.include("begun");
    expect(late).to.have.length(2);
    const alone = await failureOf(callTool(tool, { ...run("sleep 60"), timeoutMs: 300 } as never));
    expect(alone).to.include({ op: "tool.call", code: "tool_timeout" });
    expect(alone.message).to.include("300 ms");
    const least = await made({ timeout: 200 });
    const bounded = await failureOf(callTool(least, { ...run("sleep 60"), timeoutMs: 60_000 } as never));
    expect(bounded.message).to.include("200 ms").and.include("none");
  });

  it("are ended with their call, also one that ignores it", async () => {
    const tool = await made();
    const before = await failureOf(
      callTool(tool, run("echo x") as never, { signal: AbortSignal.abort(new Error("no")) }),
    );
    expect(before.message).to.equal("no");
    const controller = new AbortController();
    const progress = () => controller.abort();
    const stubborn = run("trap '' TERM; echo on; while :; do sleep 0.05; done");
    const ended = await failureOf(callTool(tool, stubborn as never, { signal: controller.signal, progress }));
    expect(ended).to.include({ op: "tool.call", code: "stream_interrupted" });
  });

  it("are all refused when one is not allowed, before anything runs", async () => {
    const tool = await made();
    const first = run("touch made");
    for (const [next, code] of [
      [{ command: "bash", arguments: [] }, "tool_denied"],
      [{ command: "cat", arguments: ["a\0b"] }, "tool_denied"],
      [{ ...run("pwd"), directory: "/etc" }, "tool_denied"],
      [{ ...run("pwd"), directory: "link-folder" }, "tool_denied"],
      [{ ...run("pwd"), directory: "../outside" }, "tool_denied"],
      [{ ...run("pwd"), directory: "nowhere" }, "tool_failed"],
      [{ ...run("pwd"), directory: "hello.txt" }, "tool_failed"],
    ] as const) {
      const refused = await failureOf(
        tool.call({ ...first, next: [next] } as never, silentToolContext()) as Promise<unknown>,
      );
      expect(refused, JSON.stringify(next)).to.include({ op: "tool.call", code });
    }
    expect(existsSync(join(workspace.root, "made"))).to.equal(false);
  });

  it("are shown to a person exactly as they are started, and run only as they were shown", async () => {
    const asked: ApprovalQuestion[] = [];
    let verdict: Verdict = { approved: true };
    const tool = await create();
    const call = (input: object) =>
      callTool(tool, input as never, {
        ask: async (question) => {
          asked.push(question as ApprovalQuestion);
          return verdict;
        },
      });
    await call({
      ...run("echo 'a b'"),
      stdin: "in",
      next: [{ command: "cat", arguments: ["hello.txt"], directory: "." }],
    });
    const [question] = asked;
    const [shown] = (question?.arguments.commands ?? []) as { argv: string[] }[];
    const program = shown?.argv[0];
    expect(program).to.match(/^\/.*\/sh$/);
    expect(question?.arguments).to.deep.equal({
      commands: [
        { argv: [program, "-c", "echo 'a b'"], directory: workspace.root },
        { argv: [program?.replace(/sh$/, "cat"), "hello.txt"], directory: workspace.root },
      ],
      stdin: "in",
    });
    expect(question?.reason).to.equal(
      `without a sandbox: ${program} -c 'echo '\\''a b'\\'''; ${program?.replace(/sh$/, "cat")} hello.txt`,
    );
    expect(question?.name).to.equal("shell");
    await call(run("echo x"));
    await call(run("echo x"));
    await call(run("echo y"));
    expect(asked[1]?.id)
      .to.match(/^[0-9a-f]{16}$/)
      .and.equal(asked[2]?.id);
    expect(asked[3]?.id).not.to.equal(asked[2]?.id);
    expect(asked[1]?.arguments).not.to.have.property("stdin");
    for (const [given, told] of [
      [{ approved: false, reason: "not now" }, "not now"],
      [{ approved: false }, "the call was denied"],
      [{ approved: true, arguments: {} }, "cannot change it"],
    ] as const) {
      verdict = given;
      const denied = await failureOf(call(run("touch made")));
      expect(denied).to.include({ op: "tool.call", code: "tool_denied" });
      expect(denied.message).to.include(told);
    }
    expect(existsSync(join(workspace.root, "made"))).to.equal(false);
    expect(tool).to.include({ approval: "never", effect: "effectful", name: "shell" });
  });

  it("do not run in a folder that was replaced while the person thought about it", async () => {
    const tool = await create();
    mkdirSync(join(workspace.root, "place"));
    const ask = async () => {
      renameSync(join(workspace.root, "place"), join(workspace.root, "moved"));
      symlinkSync("src", join(workspace.root, "place"));
      return { approved: true };
    };
    const refused = await failureOf(callTool(tool, { ...run("pwd"), directory: "place" } as never, { ask }));
    expect(refused).to.include({ op: "tool.call", code: "tool_denied" });
    rmdirSync(join(workspace.root, "moved"));
  });

  it("are described with what the model may add", async () => {
    const tool = await create({
      commands: ["cat", { name: "list", argv: ["ls", "-a"] }, { ...sh, description: "any script" }],
      timeout: 2_000,
      maxOutput: 100,
    });
    expect(tool.description)
      .to.include("cat; list without arguments; sh (any script).")
      .and.include("in the workspace:");
    expect(tool).to.include({ timeout: 3_050, maxOutput: 1_200 });
  });
});

describe("the workspace of a shell tool", () => {
  let workspace: Workspace;
  before(() => {
    workspace = makeWorkspace();
  });
  after(() => workspace.remove());

  it("is a folder with its links resolved, and not the whole machine", async () => {
    symlinkSync("work", join(workspace.base, "linked"));
    expect(await openJail("linked", workspace.base)).to.deep.equal({ root: workspace.root });
    for (const cwd of ["nowhere", "/"])
      expect(await failureOf(openJail(cwd, workspace.base))).to.include({ op: "tool.create", code: "config_invalid" });
  });

  it("holds its own folders, and none that begins with its name", async () => {
    const jail = { root: workspace.root };
    mkdirSync(`${workspace.root}-twin`);
    expect(isInside(jail, workspace.root)).to.equal(true);
    expect(isInside(jail, join(workspace.root, "src"))).to.equal(true);
    expect(isInside(jail, `${workspace.root}-twin`)).to.equal(false);
    for (const path of [".", "src", "src/.."]) {
      await using directory = await openDirectory(jail, path);
      expect(isInside(jail, directory.path)).to.equal(true);
      expect(directory.startFrom).to.match(/^\/proc\/self\/fd\/\d+$/);
    }
    for (const path of ["../work-twin", "a\0b", workspace.root])
      expect(await failureOf(openDirectory(jail, path)), JSON.stringify(path)).to.include({
        op: "tool.call",
        code: "tool_denied",
      });
    const missing = await failureOf(openDirectory(jail, "nowhere"));
    expect(missing).to.include({ op: "tool.call", code: "tool_failed" });
    expect(missing.cause).to.be.instanceOf(Error);
  });

  it("gives commands a fixed environment, and takes only what is not harmless out of the output", () => {
    process.env.VENTURI_TEST_PASSED = "passed-value";
    const options = ShellOptions.parse({
      cwd: ".",
      commands: ["cat"],
      path: ["/a", "/b"],
      env: { LANG: "de_DE.UTF-8", TOKEN: "token-value" },
      passEnv: ["VENTURI_TEST_PASSED", "VENTURI_TEST_NOT_SET"],
    });
    expect(childEnvironment(options, { root: "/x/work" })).to.deep.equal({
      PATH: "/a:/b",
      HOME: "/x/work",
      LANG: "de_DE.UTF-8",
      TERM: "dumb",
      GIT_CEILING_DIRECTORIES: "/x",
      TOKEN: "token-value",
      VENTURI_TEST_PASSED: "passed-value",
    });
    const text = "token-value passed-value de_DE.UTF-8";
    expect(outputRedactor(options)(text)).to.equal("[TOKEN] [VENTURI_TEST_PASSED] de_DE.UTF-8");
    delete process.env.VENTURI_TEST_PASSED;
  });
});
