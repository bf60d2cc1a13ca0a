import { existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import type { ApprovalQuestion, Question, Verdict } from "../../../src/core/ports/tool.ts";
import { loadConfig } from "../../../src/host/config/load.ts";
import { callTool } from "../../../src/testing.ts";
import { createShell, makeWorkspace, type Workspace } from "./workspace.ts";

describe("shell without a sandbox", () => {
  let workspace: Workspace;
  before(() => {
    workspace = makeWorkspace();
  });
  after(() => workspace.remove());

  const failure = (given: Record<string, unknown>) =>
    createShell(workspace, { commands: ["cat", "touch"], ...given }).then(
      () => expect.fail("it was made"),
      (thrown) => `${thrown.code}: ${thrown.message}`,
    );

  it("does not start, whatever its commands are, and says how to get one", async () => {
    const bin = join(workspace.base, "bin");
    mkdirSync(bin);
    symlinkSync("/bin/cat", join(bin, "cat"));
    const all = [["cat"], [{ name: "fixed", argv: ["cat", "hello.txt"] }]];
    for (const commands of all) {
      const told = await failure({ commands, path: [bin] });
      expect(told).to.match(/^config_invalid: commands run in a sandbox only, .* "bwrap" is not in/);
      expect(told).to.contain("install bubblewrap").and.to.contain("sandbox: approve").and.to.contain("docker");
    }
    // What it says where user namespaces are not allowed.
    const refusing = "case $1 in --help) ;; *) echo 'bwrap: No permissions to create new namespace' >&2; exit 1; esac";
    writeFileSync(join(bin, "bwrap"), `#!/bin/sh\n${refusing}\n`, { mode: 0o755 });
    for (const commands of all) {
      expect(await failure({ commands, path: [bin] })).to.contain("No permissions to create new namespace");
    }
  });

  it("a command line of the operator that hides nothing is no sandbox", async () => {
    expect(await failure({ sandbox: ["env"] })).to.contain("shows files outside the workspace");
    expect(await failure({ sandbox: ["sh", "-c", "shift; exec true"] })).to.contain("does not run the command");
    expect(await failure({ sandbox: ["false"] })).to.contain("the sandbox cannot be used");
    expect(await failure({ sandbox: ["no-such-sandbox"] })).to.contain("is not in");
    writeFileSync(join(workspace.root, "box"), "#!/bin/sh\nexec true\n", { mode: 0o755 });
    expect(await failure({ sandbox: [join(workspace.root, "box")] })).to.contain("is in the workspace");
    expect(await failure({ cwd: "/", sandbox: "approve" })).to.contain("the whole machine");
  });

  it("what an earlier version took is refused with its place and the way on", async () => {
    const file = join(workspace.base, "venturi.yaml");
    const lines = [
      "providers: { demo: { type: simulator } }",
      "agents: { one: { model: demo/hello, tools: [shell] } }",
      "tools:",
      "  shell:",
      "    type: shell",
      "    cwd: work",
      "    sandbox: off",
      "    commands:",
      "      - cat",
      "      - { name: log, argv: [git, log], arguments: checked }",
      "      - { name: show, argv: [cat], arguments: any, deny: ['*.key'] }",
      "    programs: [cat]",
    ];
    writeFileSync(file, lines.join("\n"));
    const told = await loadConfig({ file, env: {} }).then(() => expect.fail("it was taken"), String);
    expect(told).to.match(/:7:14.*sandbox.*off is gone.*approve/);
    expect(told).to.match(/:10:\d+.*commands\[1\]\.arguments.*checked is gone.*say any/);
    expect(told).to.match(/:11:\d+.*commands\[2\]\.deny.*allow and deny are gone.*leave them out/);
    expect(told).to.match(/:12:5.*programs.*unknown key/);
  });

  const called = async (input: Record<string, unknown>, verdict: Verdict, given = {}) => {
    const questions: ApprovalQuestion[] = [];
    const tool = await createShell(workspace, { sandbox: "approve", commands: ["touch", "echo"], ...given });
    const ask = async (question: Question) => {
      questions.push(question as ApprovalQuestion); // the shell asks nothing else
      return verdict;
    };
    const outcome = await callTool(tool, input, { ask }).then(
      ({ output }) => JSON.stringify(output),
      (thrown) => `${thrown.code}: ${thrown.message}`,
    );
    return { questions, outcome, tool };
  };

  it("with approve a person sees each call's exact command lines, and nothing runs before the answer", async () => {
    const input = {
      command: "touch",
      arguments: ["a b", "$(id)"],
      directory: "src",
      next: [{ command: "echo", arguments: ["x"] }],
    };
    const { questions, outcome } = await called(input, { approved: false, reason: "not today" });
    expect(outcome).to.equal("tool_denied: not today");
    expect(existsSync(join(workspace.root, "src/a b"))).to.equal(false);
    expect(questions).to.have.length(1);
    expect(questions[0]?.arguments).to.deep.equal({
      commands: [
        { argv: ["/usr/bin/touch", "a b", "$(id)"], directory: join(workspace.root, "src") },
        { argv: ["/usr/bin/echo", "x"], directory: workspace.root },
      ],
    });
    expect(questions[0]?.reason).to.equal("without a sandbox: /usr/bin/touch 'a b' '$(id)'; /usr/bin/echo x");
    const allowed = await called(input, { approved: true });
    expect(allowed.outcome).to.contain('"exit":0');
    expect(existsSync(join(workspace.root, "src/a b"))).to.equal(true);
  });

  it("no setting spares the question, and an answer counts for its own command lines alone", async () => {
    const first = await called(
      { command: "echo", arguments: ["1"] },
      { approved: true, for: "run" },
      { approval: "never" },
    );
    const again = await called({ command: "echo", arguments: ["1"] }, { approved: true });
    const other = await called({ command: "echo", arguments: ["2"] }, { approved: true });
    const fed = await called({ command: "echo", arguments: ["1"], stdin: "x" }, { approved: true });
    const ids = [first, again, other, fed].map(({ questions }) => questions[0]?.id);
    expect(ids.every((id) => id !== undefined)).to.equal(true);
    expect(ids[0]).to.equal(ids[1]);
    expect(new Set(ids).size).to.equal(3);
    expect(first.tool.approval).to.equal("never"); // it asks by itself: not twice
    const changed = await called({ command: "echo" }, { approved: true, arguments: { commands: [] } });
    expect(changed.outcome).to.contain("tool_denied: an approval of a command line cannot change it");
  });

  it("a folder replaced by a link while the person is asked is not used", async () => {
    const tool = await createShell(workspace, { sandbox: "approve", commands: ["touch"] });
    mkdirSync(join(workspace.root, "swap"));
    const ask = async () => {
      renameSync(join(workspace.root, "swap"), join(workspace.root, "swapped"));
      symlinkSync("src", join(workspace.root, "swap"));
      return { approved: true };
    };
    const input = { command: "touch", arguments: ["planted"], directory: "swap" };
    const thrown = await callTool(tool, input, { ask }).catch((error) => error);
    expect(thrown).to.have.property("code", "tool_denied");
    expect(existsSync(join(workspace.root, "src/planted"))).to.equal(false);
  });
});
