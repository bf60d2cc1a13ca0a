import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { bootTicks, killMarked } from "../../../plugins/shell/processes.ts";
import type { Tool } from "../../../src/core/ports/tool.ts";
import { callTool } from "../../../src/testing.ts";
import { isSlow } from "../../sweep.ts";
import { approving, createShell, makeWorkspace, runningWith, type Workspace, ways } from "./workspace.ts";

const nap = `6${process.pid}.25`;

/** Each says a line for every process it starts, then never ends. */
const trees: Readonly<Record<string, string>> = {
  "a tree three deep": `echo; sh -c 'echo; sh -c "echo; sleep ${nap}; true"; true'; true`,
  "children in the background": `sleep ${nap} & echo; sleep ${nap} & echo; wait`,
  "one that ignores SIGTERM": `trap '' TERM; sleep ${nap} & echo; while :; do sleep ${nap}; done`,
  "one that left the group": `setsid sleep ${nap} & sleep ${nap} & echo; setsid sh -c 'echo; sleep ${nap}; true' & wait`,
  "a daemon whose parent is gone": `echo; (setsid sh -c 'echo; sleep ${nap}; true' &) ; sleep ${nap}; true`,
  "a daemon that dropped its pipes": `(setsid sleep ${nap} > /dev/null 2>&1 < /dev/null &); echo; sleep ${nap}; true`,
};

for (const sandbox of ways) {
  describe(`shell processes (${sandbox})`, () => {
    let workspace: Workspace;
    before(() => {
      workspace = makeWorkspace();
    });
    after(() => workspace.remove());

    const create = async (text: string): Promise<Tool> => {
      writeFileSync(join(workspace.root, "tree.sh"), text);
      const commands = [{ name: "tree", argv: ["/bin/sh", "tree.sh"] }];
      return approving(await createShell(workspace, { sandbox, commands, killAfter: "200ms" }));
    };

    for (const [what, text] of Object.entries(trees)) {
      it(`cancelling kills ${what}`, async () => {
        const tool = await create(text);
        const controller = new AbortController();
        const wanted = (text.match(/echo/g) ?? []).length;
        let lines = 0;
        const progress = (said: string) => {
          lines += said.split("\n").length - 1;
          if (lines >= wanted) controller.abort(new Error("enough"));
        };
        const thrown = await callTool(tool, { command: "tree" }, { signal: controller.signal, progress }).catch(
          (error) => error,
        );
        expect(thrown).to.have.property("code", "stream_interrupted");
        expect(runningWith(`sleep ${nap}`), "left running").to.deep.equal([]);
      });
    }

    it("a command that ends leaves no daemon behind either", async () => {
      const tool = await create(`setsid sleep ${nap} > /dev/null 2>&1 & setsid sleep ${nap} & echo done`);
      const { output } = await callTool(tool, { command: "tree" });
      expect(output).to.have.property("stdout", "done\n");
      expect(runningWith(`sleep ${nap}`)).to.deep.equal([]);
    });

    const atOnce = isSlow ? 100 : 12;
    it(`${atOnce} calls cancelled at once leave nothing running`, async () => {
      const tool = await create(`echo started; sleep ${nap}; true`);
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
      expect(runningWith(`sleep ${nap}`)).to.deep.equal([]);
    });
  });
}

describe("killing by mark", () => {
  it("leaves a process without an environment alone and does not wait for it", async () => {
    const before = bootTicks();
    const bare = spawn("/bin/sleep", ["30"], { env: {}, stdio: "ignore" });
    try {
      while (readFileSync(`/proc/${bare.pid}/comm`, "utf8") !== "sleep\n") await new Promise(setImmediate);
      const took: number[] = [];
      for (let time = 0; time < 3; time++) {
        const start = performance.now();
        await killMarked("VENTURI_CALL=none", before);
        took.push(performance.now() - start);
      }
      expect(Math.min(...took)).to.be.below(4_000); // of five seconds of patience
      expect(bare.exitCode === null && bare.signalCode === null).to.equal(true);
    } finally {
      bare.kill("SIGKILL");
    }
  });
});
