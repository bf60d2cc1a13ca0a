import { execFileSync } from "node:child_process";
import { expect } from "chai";
import type { Runs } from "../../../src/index.ts";
import { type RunEvent, VenturiError } from "../../../src/index.ts";
import { venturiOf } from "../venturi.ts";

const yaml = (marker: string) => `
providers:
  demo:
    type: simulator
    pace: 0
    scenarios:
      - name: shell
        turns: [{ text: "Running.", calls: [{ name: shell, arguments: { command: wait } }] }]
tools:
  shell: { type: shell, cwd: ., sandbox: approve, commands: [{ name: wait, argv: [sleep, "${marker}"] }] }
agents:
  runner: { model: demo/shell, tools: [shell] }
  silent: { model: "demo/count-5!stall@2" }
  boss: { model: demo/boss, tools: [] }
`;

async function when(runs: Runs, run: string, type: RunEvent["type"]): Promise<void> {
  for await (const batch of runs.follow(run)) if (batch.some((event) => event.type === type)) return;
}

async function approve(runs: Runs, run: string): Promise<void> {
  for await (const batch of runs.follow(run)) {
    const asked = batch.find((event) => event.type === "approval.requested");
    if (asked !== undefined) {
      await runs.signal(run, "approve", { call: asked.call, approved: true });
      return;
    }
  }
}

async function last(runs: Runs, run: string): Promise<RunEvent | undefined> {
  let event: RunEvent | undefined;
  for await (const batch of runs.follow(run)) event = batch.at(-1);
  return event;
}

const running = (marker: string): number => {
  try {
    return execFileSync("pgrep", ["-fc", `sleep ${marker}`])
      .toString()
      .trim() === "0"
      ? 0
      : 1;
  } catch {
    return 0;
  }
};

describe("cancelling a run", () => {
  it("kills the process its tool runs and writes one terminal event with the partial text", async () => {
    const marker = `98${process.pid}`;
    const venturi = await venturiOf(yaml(marker));
    try {
      const { run } = await venturi.runs.start({ agent: "runner", input: { text: "go" } });
      await approve(venturi.runs, run);
      while (running(marker) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      await venturi.runs.cancel(run, "enough");
      expect(running(marker)).to.equal(0);
      const terminal = await last(venturi.runs, run);
      expect(terminal).to.deep.include({ type: "run.failed", output: "Running." });
      expect(terminal).to.have.nested.property("error.code", "stream_interrupted");
    } finally {
      await venturi.close();
    }
  });

  it("ends a run whose provider is silent", async () => {
    const venturi = await venturiOf(yaml("1"));
    try {
      const { run } = await venturi.runs.start({ agent: "silent", input: { text: "go" } });
      await when(venturi.runs, run, "text.delta");
      await venturi.runs.cancel(run);
      expect(await last(venturi.runs, run)).to.have.nested.property("error.code", "stream_interrupted");
      await venturi.runs.cancel(run); // a run that has ended is cancelled without a word
    } finally {
      await venturi.close();
    }
  });
});

describe("closing the host", () => {
  for (const [agent, until] of [
    ["runner", "tool.started"],
    ["silent", "text.delta"],
  ] as const) {
    it(`gives a run back that is at ${until}, without a terminal event or a word`, async () => {
      const venturi = await venturiOf(yaml(`97${process.pid}`));
      const { run } = await venturi.runs.start({ agent, input: { text: "go" } });
      const seen: RunEvent[] = [];
      const reading = (async () => {
        for await (const batch of venturi.runs.follow(run)) seen.push(...batch);
      })();
      await when(venturi.runs, run, until);
      await venturi.close();
      await reading;
      expect(seen.at(-1)?.type).not.to.match(/^run\.(finished|failed)$/);
      expect(running(`97${process.pid}`)).to.equal(0);
    });
  }
});

describe("a busy session", () => {
  const busy = (whenBusy: string) => `
providers: { demo: { type: simulator, pace: 2 } }
agents: { one: { model: demo/count-40, whenBusy: ${whenBusy} } }
`;

  it("makes the second run wait its turn", async () => {
    const venturi = await venturiOf(busy("wait"));
    try {
      const start = () => venturi.runs.start({ agent: "one", input: { text: "go" }, session: "s" });
      const [first, second] = [await start(), await start()];
      const [done, next] = await Promise.all([last(venturi.runs, first.run), last(venturi.runs, second.run)]);
      expect(next?.type).to.equal("run.finished");
      const events = [];
      for await (const batch of venturi.runs.follow(second.run)) events.push(...batch);
      expect(events[0]?.at).to.be.at.least(done?.at ?? Number.POSITIVE_INFINITY);
    } finally {
      await venturi.close();
    }
  });

  it("refuses the second run with conflict where the config says so", async () => {
    const venturi = await venturiOf(busy("conflict"));
    try {
      const start = () => venturi.runs.start({ agent: "one", input: { text: "go" }, session: "s" });
      const { run } = await start();
      const error = await start().catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(VenturiError).with.property("code", "conflict");
      await venturi.runs.cancel(run);
    } finally {
      await venturi.close();
    }
  });
});
