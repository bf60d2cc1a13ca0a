import { expect } from "chai";
import type { Log } from "../../src/core/ports/log.ts";
import { silentLog } from "../../src/core/ports/log.ts";
import type { Telemetry } from "../../src/core/ports/telemetry.ts";
import { createTelemetry, defaultSettings } from "../../src/telemetry/index.ts";
import { echo, wholeRun, wireProvider } from "./drive.ts";
import { type Behaviour, Receiver } from "./receiver.ts";

describe("a collector in trouble", () => {
  let receiver: Receiver;
  const warnings: unknown[] = [];
  const log: Log = { ...silentLog, warn: (_message, fields) => warnings.push(fields) };
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown) => unhandled.push(reason);
  before(() => process.on("unhandledRejection", onUnhandled));
  after(() => process.off("unhandledRejection", onUnhandled));
  beforeEach(async () => {
    receiver = await Receiver.start();
    warnings.length = 0;
    unhandled.length = 0;
  });
  afterEach(() => receiver.stop());

  const begin = (endpoint = receiver.endpoint) =>
    createTelemetry({ ...defaultSettings, otlp: { endpoint, headers: {} } }, { log, closeLimit: 500 });

  async function runs(telemetry: Telemetry, count: number, chunks: number): Promise<void> {
    const provider = telemetry.provider("demo", "openai", wireProvider({ chunks, perRead: 500 }));
    const tool = telemetry.tool(echo);
    await Promise.all(
      Array.from({ length: count }, (_, index) => wholeRun(telemetry, `run-${index}`, { provider, tool })),
    );
  }

  for (const behaviour of ["refuse", "hang"] satisfies Behaviour[]) {
    it(`one that answers with "${behaviour}" neither fails nor delays a run, and close gives up in time`, async () => {
      receiver.behaviour = behaviour;
      const telemetry = await begin();
      await runs(telemetry, 20, 50);
      await telemetry.flush();
      await telemetry.close();
      // The exporter would wait for ten seconds.
      if (behaviour === "hang") expect(receiver.hanging).to.be.above(0);
      expect(unhandled).to.deep.equal([]);
    });
  }

  it("one that refuses is reported in the metrics and, once a minute, in the log", async () => {
    receiver.behaviour = "refuse";
    const telemetry = await begin();
    await runs(telemetry, 3, 10);
    await telemetry.flush();
    await runs(telemetry, 3, 10);
    await telemetry.flush();
    expect(await telemetry.metrics()).to.match(/^venturi_telemetry_dropped_total\{.*reason="export_failed".*\} [1-9]/m);
    expect(warnings).to.have.length(1);
    await telemetry.close();
  });

  it("one that is not there does not matter either", async () => {
    const { endpoint } = receiver;
    await receiver.stop();
    const telemetry = await begin(endpoint);
    await runs(telemetry, 5, 10);
    await telemetry.close();
    expect(unhandled).to.deep.equal([]);
    receiver = await Receiver.start();
  });

  it("one that hangs bounds what waits: the rest is dropped and counted", async () => {
    receiver.behaviour = "hang";
    const telemetry = await begin();
    await runs(telemetry, 120, 1_000);
    const text = await telemetry.metrics();
    const dropped = Number(/^venturi_telemetry_dropped_total\{.*reason="queue_full".*\} (\d+)$/m.exec(text)?.[1]);
    expect(dropped)
      .to.be.greaterThan(120_000 - 70_000)
      .and.lessThan(120_000);
    await telemetry.close();
  });

  it("one that comes back gets what follows, without a restart", async () => {
    receiver.behaviour = "refuse";
    const telemetry = await begin();
    await runs(telemetry, 2, 10);
    await telemetry.flush();
    expect(receiver.spans).to.have.length(0);
    receiver.behaviour = "accept";
    await runs(telemetry, 1, 10);
    await telemetry.flush();
    await telemetry.close();
    // What was refused may be sent again and come too, before what follows.
    const last = receiver.spans.findLast((span) => span.name === "invoke_agent assistant");
    const chunks = receiver.spans.filter((span) => span.name === "venturi.chunk" && span.traceId === last?.traceId);
    expect(chunks).to.have.length(10);
  });
});
