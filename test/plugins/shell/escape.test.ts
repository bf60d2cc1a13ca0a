import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import shell from "../../../plugins/shell/index.ts";
import type { Tool } from "../../../src/core/tool.ts";
import { callTool, testPluginContext } from "../../../src/testing.ts";
import { type Attempt, attempts } from "./escapes.ts";
import { makeRepository, makeWorkspace, secret, type Workspace } from "./workspace.ts";

const programs = [
  "cat",
  "head",
  "grep",
  "sort",
  "cut",
  "diff",
  "git",
  "find",
  "ls",
  "wc",
  "split",
  "cp",
  "touch",
  "date",
  "echo",
];
const options = {
  cwd: "work",
  sandbox: "off",
  timeout: "5s",
  env: { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b" },
  commands: [
    ...programs,
    { name: "fixed", argv: ["cat", "hello.txt"] },
    { name: "limited", argv: ["cat"], arguments: "checked", allow: ["hello.*"] },
  ],
};

describe("shell against escapes", () => {
  let workspace: Workspace;
  let tool: Tool;

  before(async () => {
    process.env.VENTURI_TEST_SECRET = secret;
    workspace = makeWorkspace();
    tool = (await shell.create(
      shell.options.parse(options),
      testPluginContext({ name: "shell", folder: workspace.base }),
    )) as Tool;
  });
  after(() => {
    delete process.env.VENTURI_TEST_SECRET;
    workspace.remove();
  });

  const outcome = async (attempt: Attempt): Promise<string> => {
    try {
      const { output, progress } = await callTool(tool, { ...attempt });
      return `ran ${JSON.stringify({ output, progress })}`;
    } catch (thrown) {
      return `refused ${String(thrown)}`;
    }
  };

  const sweep = async () => {
    let refused = 0;
    for (const attempt of attempts(workspace.base)) {
      const told = await outcome(attempt);
      const about = JSON.stringify(attempt);
      expect(told, about).not.to.contain(secret);
      expect(told, about).not.to.contain("root:x:");
      expect(existsSync(join(workspace.base, "canary")), `${about} ran something`).to.equal(false);
      expect(existsSync(join(workspace.root, "canary")), `${about} wrote something`).to.equal(false);
      if (told.startsWith("refused")) refused++;
    }
    expect(readdirSync(join(workspace.base, "outside")).sort()).to.deep.equal(["run.sh", "secret.txt"]);
    expect(readFileSync(join(workspace.base, "outside/secret.txt"), "utf8")).to.equal(`${secret}\n`);
    expect(readdirSync(workspace.base).sort()).to.deep.equal([".git", "outside", "work"]);
    return refused;
  };

  const count = attempts("").length;

  it(`${count} attempts lead nowhere in a workspace below somebody else's repository`, async () => {
    expect(await sweep()).to.be.above(count / 2);
  }).timeout(30_000);

  it(`${count} attempts lead nowhere in a workspace that is a repository`, async () => {
    makeRepository(workspace);
    expect(await sweep()).to.be.above(count / 2);
  }).timeout(30_000);

  it("honest calls still work", async () => {
    const honest: Attempt[] = [
      { command: "cp", arguments: ["hello.txt", "src/copy.txt"] },
      { command: "cat", arguments: ["hello.txt"] },
      { command: "cat", arguments: ["copy.txt"], directory: "src" },
      { command: "git", arguments: ["commit", "--allow-empty", "-m", "without its hook"] },
      { command: "git", arguments: ["log", "--oneline", "-5", "HEAD~0..HEAD"] },
      { command: "git", arguments: ["status", "--short"] },
      { command: "git", arguments: ["show", "HEAD:hello.txt"] },
      { command: "find", arguments: [".", "-name", "*.txt", "-type", "f"] },
      { command: "grep", arguments: ["-rn", "hello", "."] },
      { command: "ls", arguments: ["-la", "src"] },
      { command: "date", arguments: ["+%d/%m/%Y"] },
      { command: "fixed", arguments: [] },
      { command: "limited", arguments: ["hello.txt"] },
    ];
    for (const attempt of honest) expect(await outcome(attempt), JSON.stringify(attempt)).to.contain('"exit":0');
  });
});
