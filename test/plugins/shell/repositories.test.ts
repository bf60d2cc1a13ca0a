import { execFileSync } from "node:child_process";
import { appendFileSync, cpSync, existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import shell from "../../../plugins/shell/index.ts";
import type { Tool } from "../../../src/core/tool.ts";
import { callTool, testPluginContext } from "../../../src/testing.ts";
import { makeRepository, makeWorkspace, secret, type Workspace } from "./workspace.ts";

/** Each is appended to a repository's config and would run the program or lead out of the workspace. */
const configs = (base: string): Readonly<Record<string, string>> => ({
  "diff.external": `[diff]\n external = ${base}/outside/run.sh\n`,
  "diff.x.textconv": `[diff "x"]\n textconv = ${base}/outside/run.sh\n`,
  "diff.x.command": `[diff "x"]\n command = ${base}/outside/run.sh\n`,
  "filter.x.clean": `[filter "x"]\n clean = ${base}/outside/run.sh\n smudge = ${base}/outside/run.sh\n`,
  "filter.x.process": `[filter "x"]\n process = ${base}/outside/run.sh\n`,
  "merge.x.driver": `[merge "x"]\n driver = ${base}/outside/run.sh\n`,
  "core.fsmonitor": `[core]\n fsmonitor = ${base}/outside/run.sh\n`,
  "core.hooksPath": `[core]\n hooksPath = ${base}/outside\n`,
  "core.pager": `[core]\n pager = ${base}/outside/run.sh\n`,
  "core.worktree": `[core]\n worktree = ${base}/outside\n`,
  "core.sshCommand": `[core]\n sshCommand = ${base}/outside/run.sh\n`,
  "gpg.program": `[gpg]\n program = ${base}/outside/run.sh\n[log]\n showSignature = true\n`,
  "include.path": `[include]\n path = ${base}/outside/secret.txt\n`,
  includeIf: `[includeIf "gitdir:/"]\n path = ${base}/outside/secret.txt\n`,
  "blame.ignoreRevsFile": `[blame]\n ignoreRevsFile = ${base}/outside/secret.txt\n`,
  "commit.template": `[commit]\n template = ${base}/outside/secret.txt\n`,
  "remote.x.promisor": `[remote "x"]\n url = ext::${base}/outside/run.sh\n promisor = true\n`,
  "a key in odd case": `[DIFF]\n External = ${base}/outside/run.sh\n`,
  "a config that cannot be read": "[diff\n",
});

const commands = [
  ["status"],
  ["diff"],
  ["log", "-p"],
  ["show"],
  ["blame", "hello.txt"],
  ["grep", "hello"],
  ["add", "-A"],
  ["commit", "-a", "-m", "x"],
  ["checkout", "--", "hello.txt"],
  ["stash"],
  ["reset", "--hard"],
  ["ls-files", "-m"],
];

describe("shell and the repositories in its workspace", () => {
  let workspace: Workspace;
  let tool: Tool;
  beforeEach(async () => {
    workspace = makeWorkspace();
    makeRepository(workspace);
    writeFileSync(join(workspace.root, ".gitattributes"), "* filter=x diff=x merge=x\n");
    writeFileSync(join(workspace.root, "hello.txt"), "changed\n");
    const env = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b" };
    const options = shell.options.parse({ cwd: "work", sandbox: "off", commands: ["git"], env });
    tool = (await shell.create(options, testPluginContext({ name: "shell", folder: workspace.base }))) as Tool;
  });
  afterEach(() => workspace.remove());

  const git = async (argv: readonly string[], directory = "."): Promise<string> => {
    const input = { command: "git", arguments: argv, directory };
    return await callTool(tool, input).then(
      ({ output }) => JSON.stringify(output),
      (thrown) => `${thrown.code}: ${thrown.message}`,
    );
  };
  const untouched = (about: string, told: string) => {
    expect(existsSync(join(workspace.base, "canary")), `${about} ran something`).to.equal(false);
    expect(told, about).not.to.contain(secret);
  };

  it("a config that names a program or another place is refused by its key, whatever the subcommand", async () => {
    const config = join(workspace.root, ".git/config");
    cpSync(config, `${config}.good`);
    for (const [what, text] of Object.entries(configs(workspace.base))) {
      cpSync(`${config}.good`, config);
      appendFileSync(config, text);
      for (const argv of commands) {
        const told = await git(argv);
        untouched(`${what}: git ${argv.join(" ")}`, told);
        expect(told, what).to.match(/^tool_denied: git: the repository's config /);
      }
    }
  }).timeout(30_000);

  it("a bare repository among the files, and one that hides in a folder, are never used", async () => {
    const bare = join(workspace.root, "vendor/bare");
    execFileSync("git", ["init", "-q", "--bare", bare]);
    appendFileSync(
      join(bare, "config"),
      `[diff]\n external = ${workspace.base}/outside/run.sh\n[core]\n fsmonitor = ../../run.sh\n`,
    );
    writeFileSync(join(bare, "hello.txt"), "x\n");
    const nested = join(workspace.root, "nested");
    cpSync(join(workspace.root, ".git"), join(nested, ".git"), { recursive: true });
    appendFileSync(join(nested, ".git/config"), `[diff]\n external = ${workspace.base}/outside/run.sh\n`);
    for (const argv of commands) {
      untouched(`bare ${argv}`, await git(argv, "vendor/bare"));
      untouched(`nested ${argv}`, await git(argv, "nested"));
    }
    expect(await git(["diff"], "nested")).to.contain("tool_denied");
    expect(await git(["rev-parse", "--show-toplevel"], "vendor/bare")).to.contain(`${workspace.root}\\n`);
  }).timeout(30_000);

  it("a submodule's config is not acted upon", async () => {
    const sub = join(workspace.root, "sub");
    mkdirSync(sub);
    const own = (...argv: string[]) =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...argv], { cwd: sub, stdio: "ignore" });
    own("init", "-q");
    writeFileSync(join(sub, "a.txt"), "a\n");
    writeFileSync(join(sub, ".gitattributes"), "* filter=x\n");
    own("add", "-A");
    own("commit", "-qm", "sub");
    execFileSync("git", ["add", "sub"], { cwd: workspace.root, stdio: "ignore" });
    appendFileSync(join(sub, ".git/config"), `[filter "x"]\n clean = ${workspace.base}/outside/run.sh\n`);
    writeFileSync(join(sub, "a.txt"), "b\n");
    for (const argv of commands) untouched(`git ${argv.join(" ")}`, await git(argv));
    expect(await git(["add", "-A"])).to.contain("submodules");
    expect(await git(["status", "--short"])).to.contain('"exit":0');
  });

  it("a repository whose parts are elsewhere is refused", async () => {
    const folder = join(workspace.root, ".git");
    writeFileSync(join(folder, "objects/info/alternates"), `${workspace.base}/.git/objects\n`);
    expect(await git(["log"])).to.contain("alternates");
    renameSync(join(folder, "objects/info/alternates"), join(folder, "commondir"));
    expect(await git(["log"])).to.contain("commondir");
    renameSync(join(folder, "commondir"), join(workspace.root, "x"));
    symlinkSync(`${workspace.base}/outside/secret.txt`, join(folder, "logs/refs/heads/planted"));
    expect(await git(["log"])).to.contain("a link among its own files");
    renameSync(folder, join(workspace.root, "moved"));
    writeFileSync(folder, `gitdir: ${workspace.base}/.git\n`);
    expect(await git(["show", "HEAD:outside/secret.txt"])).to.contain(".git is not a folder");
    renameSync(folder, join(workspace.root, "y"));
    symlinkSync(`${workspace.base}/.git`, folder);
    expect(await git(["show", "HEAD:outside/secret.txt"])).to.contain(".git is not a folder");
  });

  it("hooks do not run, and honest work is done in an ordinary repository", async () => {
    for (const argv of [
      ["add", "-A"],
      ["commit", "-m", "one: /x and ../y"],
      ["checkout", "-b", "side"],
      ["switch", "main"],
      ["log", "--oneline", "-2"],
      ["stash", "list"],
      ["diff", "HEAD~1", "--stat", "--", "hello.txt"],
      ["merge", "side"],
      ["tag", "-a", "v1", "-m", "first"],
      ["describe", "--tags"],
      ["branch", "-d", "side"],
    ]) {
      const told = await git(argv);
      expect(told, argv.join(" ")).to.contain('"exit":0');
      untouched(argv.join(" "), told);
    }
  });
});
