import { spawn } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import shell from "../../../plugins/shell/index.ts";
import { bootTicks, killMarked } from "../../../plugins/shell/processes.ts";
import type { Tool } from "../../../src/core/tool.ts";
import { callTool, testPluginContext } from "../../../src/testing.ts";
import { isSlow } from "../../sweep.ts";
import { makeWorkspace, type Workspace } from "./workspace.ts";

/** Each says its pid on stdout, then never ends. */
const trees: Readonly<Record<string, string>> = {
  "a tree three deep": 'echo $$; sh -c "echo \\$\\$; sh -c \\"echo \\\\\\$\\\\\\$; sleep 60; true\\"; true"; true',
  "children in the background": "echo $$; sleep 60 & echo $!; sleep 60 & echo $!; wait",
  "one that ignores SIGTERM": "trap '' TERM; echo $$; sleep 60 & echo $!; while :; do sleep 60; done",
  "one that left the group":
    "echo $$; setsid sleep 60 & sleep 60 & echo $!; setsid sh -c 'echo $$; sleep 60; true' & wait",
  "a daemon whose parent is gone": "echo $$; (setsid sh -c 'echo $$; sleep 60; true' &) ; sleep 60; true",
};

describe("shell processes", () => {
  let workspace: Workspace;
  before(() => {
    workspace = makeWorkspace();
  });
  after(() => workspace.remove());

  const create = async (text: string, given = {}): Promise<Tool> => {
    writeFileSync(join(workspace.root, "tree.sh"), text);
    const commands = [{ name: "tree", argv: ["/bin/sh", "tree.sh"] }];
    const options = shell.options.parse({ cwd: "work", sandbox: "off", commands, killAfter: "200ms", ...given });
    return (await shell.create(options, testPluginContext({ name: "shell", folder: workspace.base }))) as Tool;
  };

  for (const [what, text] of Object.entries(trees)) {
    it(`cancelling kills ${what}`, async () => {
      const tool = await create(text);
      const controller = new AbortController();
      const wanted = (text.match(/echo \\*\$/g) ?? []).length;
      const pids: number[] = [];
      const progress = (lines: string) => {
        pids.push(...lines.trim().split("\n").map(Number));
        if (pids.length >= wanted) controller.abort(new Error("enough"));
      };
      const thrown = await callTool(tool, { command: "tree" }, { signal: controller.signal, progress }).catch(
        (error) => error,
      );
      expect(thrown).to.have.property("code", "stream_interrupted");
      expect(pids).to.have.length(wanted);
      expect(pids.filter(isRunning), "left running").to.deep.equal([]);
      expect(runningIn(workspace.root), "left running in the workspace").to.deep.equal([]);
    });
  }

  it("a command that ends leaves no daemon behind either", async () => {
    const tool = await create("setsid sleep 60 > /dev/null 2>&1 & setsid sleep 60 & echo done");
    const { output } = await callTool(tool, { command: "tree" });
    expect(output).to.have.property("stdout", "done\n");
    expect(runningIn(workspace.root)).to.deep.equal([]);
  });

  it("one that has no environment is left alone and not waited for", async () => {
    const before = bootTicks();
    const bare = spawn("/bin/sleep", ["30"], { env: {}, stdio: "ignore" });
    try {
      while (readFileSync(`/proc/${bare.pid}/comm`, "utf8") !== "sleep\n") await new Promise(setImmediate);
      const start = performance.now();
      await killMarked("VENTURI_CALL=none", before);
      expect(performance.now() - start).to.be.below(4_000); // of five seconds of patience
      expect(isRunning(bare.pid ?? 0)).to.equal(true);
    } finally {
      bare.kill("SIGKILL");
    }
  });

  const atOnce = isSlow ? 100 : 25;
  it(`${atOnce} calls cancelled at once leave nothing running`, async () => {
    const tool = await create("echo started; sleep 60; true");
    const controller = new AbortController();
    let started = 0;
    const progress = () => {
      if (++started === 10) controller.abort(new Error("enough"));
    };
    const calls = Array.from({ length: atOnce }, () =>
      callTool(tool, { command: "tree" }, { signal: controller.signal, progress }).then(
        () => "finished",
        () => "stopped",
      ),
    );
    expect(new Set(await Promise.all(calls))).to.deep.equal(new Set(["stopped"]));
    expect(runningIn(workspace.root)).to.deep.equal([]);
  });
});

function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false; // gone
  }
}

function runningIn(folder: string): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === folder && isRunning(pid);
    } catch {
      return false; // gone
    }
  });
}
