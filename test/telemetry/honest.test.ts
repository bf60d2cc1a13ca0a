import { expect } from "chai";
import { VenturiError } from "../../src/core/errors/errors.ts";
import { silentLog } from "../../src/core/ports/log.ts";
import type { Telemetry } from "../../src/core/ports/telemetry.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import { createTelemetry, defaultSettings } from "../../src/telemetry/index.ts";
import {
  claimOf,
  echo,
  finished,
  generate,
  PlainLog,
  roundFinished,
  roundStarted,
  started,
  timing,
  toolContext,
  wholeRun,
  wireProvider,
} from "./drive.ts";
import { OpenSpans } from "./open-spans.ts";

describe("what metrics and spans say of a run", () => {
  let telemetry: Telemetry;
  let spans: OpenSpans;
  beforeEach(async () => {
    spans = new OpenSpans();
    telemetry = await createTelemetry(defaultSettings, { log: silentLog, spanProcessors: [spans] });
  });
  afterEach(() => telemetry.close());

  const opened = async (name: string, history: readonly RunEvent[] = []) => {
    const plain = new PlainLog(name);
    const log = telemetry.runLog(plain, claimOf(plain), history);
    return { plain, log };
  };

  it("every counter and every level has a unit and a description, and every histogram ends above an hour if people may answer in it", async () => {
    await wholeRun(telemetry, "run-1", {
      provider: telemetry.provider("demo", "openai", wireProvider({ chunks: 3 })),
      tool: telemetry.tool(echo),
    });
    telemetry.count("venturi.config.reload", { outcome: "ok" });
    const text = await telemetry.metrics();
    expect(text).to.not.match(/^# HELP \S+ *$/m);
    for (const name of ["gen_ai_invoke_agent_duration_seconds", "gen_ai_execute_tool_duration_seconds"])
      expect(text).to.match(new RegExp(`^${name}_bucket\\{.*le="86400"\\} 1$`, "m"));
  });

  it("thirty agents make eight series each at most of where the time went", async () => {
    for (let agent = 0; agent < 30; agent++) {
      const { log } = await opened(`run-${agent}`);
      await log.step({ ...started, agent: `agent-${agent}` } as typeof started);
      await log.step(finished);
    }
    const text = await telemetry.metrics();
    expect(text.match(/^venturi_run_timing_seconds\w*\{.*$/gm)).to.have.lengthOf.within(30, 240);
    expect(text).to.match(
      /^venturi_run_timing_seconds_total\{gen_ai_agent_name="agent-3",part="providerStream"\} 0\.01$/m,
    );
  });

  it("two endpoints that speak OpenAI's format are told apart by key and address", async () => {
    const tool = telemetry.tool(echo);
    for (const key of ["mine", "theirs"]) {
      const provider = { ...wireProvider({ chunks: 3 }), endpoint: `https://${key}.example/v1` };
      await wholeRun(telemetry, `run-${key}`, { provider: telemetry.provider(key, "openai", provider), tool });
    }
    const text = await telemetry.metrics();
    for (const key of ["mine", "theirs"]) {
      const who = `gen_ai_provider_name="openai",venturi_provider_key="${key}",server_address="${key}.example"`;
      expect(text).to.include(`gen_ai_client_operation_duration_seconds_count{gen_ai_operation_name="chat",${who}`);
      expect(text).to.include(`venturi_chunks_total{${who},kind="text"} 3`);
      expect(text).to.include(
        `gen_ai_client_operation_time_per_output_chunk_seconds_count{gen_ai_operation_name="chat",${who}`,
      );
    }
  });

  it("a run that is parked twice is one run, with all of its time, generations and calls", async () => {
    const provider = telemetry.provider("demo", "openai", wireProvider({ chunks: 1 }));
    const first = await opened("run-1");
    await first.log.step(started);
    first.log.write(roundStarted(1));
    await generate(provider, "run-1", 1);
    await first.log.park(0);
    const second = await opened("run-1", first.plain.events);
    await second.log.step({ type: "tool.finished", round: 1, call: "c", name: "echo", ok: true, output: "", ms: 1 });
    await second.log.step(roundFinished(1));
    await second.log.park(0);
    const third = await opened("run-1", [...first.plain.events, ...second.plain.events]);
    third.log.write(roundStarted(2));
    await generate(provider, "run-1", 2);
    await third.log.step({ ...finished, timing: { ...timing, approval: 7_200_000 } } as typeof finished);
    const text = await telemetry.metrics();
    expect(text).to.match(/^gen_ai_invoke_agent_duration_seconds_count\{.*\} 1$/m);
    expect(text).to.match(/^gen_ai_invoke_agent_duration_seconds_sum\{.*\} 7200\.0/m);
    expect(text).to.match(/^gen_ai_invoke_agent_inference_calls_sum\{.*\} 2$/m);
    expect(text).to.match(/^gen_ai_invoke_agent_tool_calls_sum\{.*\} 1$/m);
    expect(text).to.match(/^venturi_runs_active 0$/m);
  });

  it("a run that another worker takes over is not measured by the one that lost it", async () => {
    const { plain, log } = await opened("run-1");
    await log.step(started);
    plain.abort.abort(new VenturiError("journal.append", "conflict", "fenced"));
    expect(await telemetry.metrics()).to.not.include("gen_ai_invoke_agent_duration_seconds_count");
  });

  for (const settles of ["at once", "never"]) {
    it(`a tool that waits when its run is parked, and settles ${settles}, has not failed and is not counted`, async () => {
      const { log } = await opened("run-1");
      await log.step(started);
      log.write(roundStarted(1));
      const stop = new AbortController();
      const tool = telemetry.tool({
        ...echo,
        call: (_input, { signal }) =>
          new Promise((_, reject) => {
            if (settles === "at once") signal.addEventListener("abort", () => reject(signal.reason));
          }),
      });
      const called = tool.call({}, { ...toolContext("run-1", 1, "c"), signal: stop.signal }) as Promise<unknown>;
      const reason = new VenturiError("agent.run", "unavailable", "parked", { details: { parked: true } });
      stop.abort(reason);
      if (settles === "at once") await called.catch(() => {});
      await log.park(0);
      const [span] = spans.named("execute_tool echo");
      expect(span?.status.code).to.equal(0);
      expect(span?.attributes).to.include({ "venturi.run.parked": true }).and.to.not.have.property("error.type");
      expect(await telemetry.metrics()).to.not.include("gen_ai_execute_tool_duration_seconds_count");
    });
  }

  it("an error that a tool throws has one code in its span, its metrics and the run's events", async () => {
    const { log } = await opened("run-1");
    await log.step(started);
    log.write(roundStarted(1));
    const thrown = new Error("the shop is closed");
    const tool = telemetry.tool({ ...echo, call: () => Promise.reject(thrown) });
    await (tool.call({}, toolContext("run-1", 1, "c")) as Promise<unknown>).catch(() => {});
    const error = { code: "tool_failed", op: "tool.call", err: "the shop is closed" } as const;
    await log.step({ type: "tool.finished", round: 1, call: "c", name: "echo", ok: false, error, output: "", ms: 1 });
    await log.step(finished);
    const [span] = spans.named("execute_tool echo");
    expect(span?.attributes["error.type"]).to.equal("tool_failed");
    const text = await telemetry.metrics();
    expect(text).to.match(/^gen_ai_execute_tool_duration_seconds_count\{.*error_type="tool_failed"\} 1$/m);
    expect(text).to.match(/^venturi_tool_calls_total\{.*outcome="tool_failed"\} 1$/m);
    expect(text).to.not.include("plugin_failed");
  });

  it("a call that was stopped by its timeout has the event's code, whatever the tool threw", async () => {
    const { log } = await opened("run-1");
    await log.step(started);
    log.write(roundStarted(1));
    const tool = telemetry.tool({ ...echo, call: () => Promise.reject(new Error("socket hang up")) });
    await (tool.call({}, toolContext("run-1", 1, "c")) as Promise<unknown>).catch(() => {});
    const error = { code: "timeout", op: "tool.call", err: "took too long" } as const;
    await log.step({ type: "tool.finished", round: 1, call: "c", name: "echo", ok: false, error, output: "", ms: 1 });
    const [span] = spans.named("execute_tool echo");
    expect(span?.attributes["error.type"]).to.equal("timeout");
    expect(span?.status.message).to.include("socket hang up");
  });
});
