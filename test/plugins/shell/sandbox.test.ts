import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { expect } from "chai";
import shell from "../../../plugins/shell/index.ts";
import type { Tool } from "../../../src/core/tool.ts";
import { callTool, testPluginContext } from "../../../src/testing.ts";
import { makeWorkspace, secret, type Workspace } from "./workspace.ts";

const path = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder.startsWith("/"));
const installed = path.some((folder) => existsSync(join(folder, "bwrap")));

describe(`shell sandbox (bubblewrap is ${installed ? "here" : "not here"})`, () => {
  let workspace: Workspace;
  before(() => {
    workspace = makeWorkspace();
  });
  after(() => workspace.remove());

  const create = async (given: Record<string, unknown>, warn = (_message: string) => {}) => {
    const commands = [{ name: "sh", argv: ["sh", "-c"], arguments: "any" }];
    const options = shell.options.parse({ cwd: "work", commands, ...given });
    const nothing = () => {};
    const log = { debug: nothing, info: nothing, warn, error: nothing };
    return (await shell.create(options, testPluginContext({ name: "shell", folder: workspace.base, log }))) as Tool;
  };

  it("without one only commands that cannot run code are left; required refuses those too, off lets all of them run", async () => {
    const bin = join(workspace.base, "bin");
    mkdirSync(bin);
    for (const name of ["sh", "cat", "git"]) symlinkSync(`/usr/bin/${name}`, join(bin, name));
    const failure = (given: Record<string, unknown>) => create({ path: [bin], ...given }).then(() => "made", String);
    const harmless = ["cat", "git", { name: "hello", argv: ["cat", "hello.txt"] }];
    const warnings: string[] = [];
    await create({ path: [bin], commands: harmless }, (message) => warnings.push(message));
    expect(warnings).to.have.length(1);
    for (const command of [
      { name: "test", argv: ["sh", "test.sh"] },
      { name: "cat", argv: ["cat"], arguments: "any" },
      { name: "push", argv: ["git", "push"] },
    ]) {
      const told = await failure({ commands: [...harmless, command] });
      expect(told).to.contain(`${command.name} can run code`).and.to.contain("sandbox: off if that is meant");
      expect(await failure({ commands: [...harmless, command], sandbox: "off" })).to.equal("made");
    }
    expect(await failure({ commands: harmless, sandbox: "required" })).to.contain("sandbox: required");
  });

  if (!installed) return;

  const run = async (text: string, given = {}) => {
    const tool = await create({ sandbox: "required", path, ...given });
    return (await callTool(tool, { command: "sh", arguments: [text] })).output as { stdout: string; stderr: string };
  };

  it("shows the workspace and the system's programs, and no other file", async () => {
    expect((await run("cat hello.txt; pwd")).stdout).to.equal(`hello\n${workspace.root}\n`);
    const told = await run("cat ../outside/secret.txt link-file /etc/passwd /etc/shadow; ls /root /home; ls ..; ls /");
    expect(JSON.stringify(told)).not.to.match(new RegExp(`${secret}|root:`));
    expect(told.stdout).not.to.match(/outside|home|var/);
  });

  it("does without a /proc of its own where none may be mounted, as in a container or a hardened unit", async () => {
    const bin = join(workspace.base, "masked");
    mkdirSync(bin);
    const real = path.map((folder) => join(folder, "bwrap")).find((file) => existsSync(file));
    const text = `#!/bin/sh\ncase " $* " in *" --proc "*) echo "Can't mount proc" >&2; exit 1;; esac\nexec ${real} "$@"\n`;
    writeFileSync(join(bin, "bwrap"), text, { mode: 0o755 });
    const told = await run("cat hello.txt; ls /proc", { path: [bin, ...path] });
    expect(told.stdout).to.equal("hello\n");
  });

  it("lets commands write in the workspace and nowhere else", async () => {
    await run(`echo x > made.txt; echo x > ${workspace.base}/planted`);
    expect(existsSync(join(workspace.root, "made.txt"))).to.equal(true);
    expect(existsSync(join(workspace.base, "planted"))).to.equal(false);
  });

  it("has no network and sees no process of the host", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as { port: number };
    let reached = 0;
    server.on("connection", () => reached++);
    const bash = [{ name: "sh", argv: ["bash", "-c"], arguments: "any" }];
    const told = await run(`echo hi > /dev/tcp/127.0.0.1/${port}; ls -d /proc/[0-9]* | wc -l`, { commands: bash });
    server.close();
    expect(reached).to.equal(0);
    expect(Number(told.stdout.trim())).to.be.below(8);
  });

  it("everything in it dies when the call is cancelled", async () => {
    const tool = await create({ sandbox: "required", path });
    const controller = new AbortController();
    const start = performance.now();
    const text = "trap '' TERM; setsid sleep 61.25 & echo started; while :; do sleep 61.25; done";
    const progress = () => controller.abort(new Error("enough"));
    await callTool(tool, { command: "sh", arguments: [text] }, { signal: controller.signal, progress }).catch(() => {});
    expect(performance.now() - start).to.be.below(3_000);
    const { findMarked } = await import("../../../plugins/shell/processes.ts");
    expect((await findMarked(`HOME=${workspace.root}`, 0)).marked).to.deep.equal([]);
  });
});
