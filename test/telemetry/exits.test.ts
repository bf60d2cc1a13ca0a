import { SpanStatusCode } from "@opentelemetry/api";
import { expect } from "chai";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Provider } from "../../src/core/model/provider.ts";
import { silentLog } from "../../src/core/ports/log.ts";
import type { Telemetry } from "../../src/core/ports/telemetry.ts";
import type { Tool } from "../../src/core/ports/tool.ts";
import type { EventBody, RunEvent } from "../../src/core/run/events.ts";
import { createTelemetry, defaultSettings } from "../../src/telemetry/index.ts";
import {
  claimOf,
  echo,
  finished,
  generate,
  generationContext,
  PlainLog,
  request,
  roundFinished,
  roundStarted,
  started,
  timing,
  toolContext,
  wireProvider,
} from "./drive.ts";
import { OpenSpans } from "./open-spans.ts";

const failure = (code: "stream_interrupted" | "rate_limited"): EventBody => ({
  type: "run.failed",
  error: { op: "agent.run: provider.stream", code, err: "no" },
  output: "",
  usage: {},
  rounds: 1,
  timing,
});

describe("the end of a span", () => {
  let spans: OpenSpans;
  let telemetry: Telemetry;
  beforeEach(async () => {
    spans = new OpenSpans();
    telemetry = await createTelemetry(defaultSettings, { log: silentLog, spanProcessors: [spans] });
  });
  afterEach(() => telemetry.close());

  function begun(run = "run-1", history: readonly RunEvent[] = [], plain = new PlainLog(run)) {
    return { plain, log: telemetry.runLog(plain, claimOf(plain), history) };
  }

  const settled = () => {
    expect([...spans.open.values()]).to.deep.equal([]);
    expect(spans.orphans()).to.deep.equal([]);
  };

  it("a provider that throws ends its span with the code and the chain of operations", async () => {
    const { log } = begun();
    await log.step(started);
    log.write(roundStarted(1));
    const provider = telemetry.provider(
      "demo",
      "openai",
      throwing(new VenturiError("provider.stream", "rate_limited", "wait")),
    );
    await rejected(generate(provider, "run-1", 1));
    await log.step(failure("rate_limited"));
    const [chat] = spans.named("chat small");
    expect(chat?.status).to.deep.equal({ code: SpanStatusCode.ERROR, message: "provider.stream: wait" });
    expect(chat?.attributes["error.type"]).to.equal("rate_limited");
    const [agent] = spans.named("invoke_agent assistant");
    expect(agent?.status).to.deep.equal({ code: SpanStatusCode.ERROR, message: "agent.run: provider.stream: no" });
    settled();
  });

  it("has an exception event with the whole chain of causes, without the secrets in it", async () => {
    const { log } = begun();
    await log.step(started);
    log.write(roundStarted(1));
    const refused = new Error(`connect ECONNREFUSED 127.0.0.1:9 with Bearer ${"ab12".repeat(8)}`);
    const error = new VenturiError("provider.stream", "unavailable", "the provider cannot be reached", {
      cause: refused,
    });
    await rejected(generate(telemetry.provider("demo", "openai", throwing(error)), "run-1", 1));
    await log.step(failure("rate_limited"));
    const [event] = spans.named("chat small")[0]?.events ?? [];
    expect(event?.name).to.equal("exception");
    expect(event?.attributes).to.deep.equal({
      "exception.type": "unavailable",
      "exception.message": "the provider cannot be reached: connect ECONNREFUSED 127.0.0.1:9 with [redacted]",
    });
    settled();
  });

  it("an error delta fails the span, although the stream ends quietly", async () => {
    const { log } = begun();
    await log.step(started);
    log.write(roundStarted(1));
    const error = new VenturiError("provider.stream", "llm_error", "overloaded");
    await generate(telemetry.provider("demo", "openai", saying([{ type: "error", error }])), "run-1", 1);
    expect(spans.named("chat small")[0]?.attributes["error.type"]).to.equal("llm_error");
    await log.step(failure("rate_limited"));
    settled();
  });

  it("a cancelled run is marked so, has no error status, and takes what is open below it along", async () => {
    const { log } = begun();
    await log.step(started);
    log.write(roundStarted(1));
    const provider = telemetry.provider("demo", "openai", wireProvider({ chunks: 50 }));
    const stream = provider.stream?.(request(), generationContext("run-1", 1));
    const reader = stream?.[Symbol.asyncIterator]();
    await reader?.next();
    void telemetry.tool({ ...echo, call: () => new Promise(() => {}) }).call({}, toolContext("run-1", 1, "call-1"));
    await log.step(failure("stream_interrupted"));
    for (const name of ["invoke_agent assistant", "chat small", "execute_tool echo"]) {
      const [span] = spans.named(name);
      expect(span?.attributes["venturi.cancelled"], name).to.equal(true);
      expect(span?.status.code, name).to.equal(SpanStatusCode.UNSET);
    }
    expect(spans.named("venturi.chunk")).to.have.length(4);
    settled();
  });

  it("a consumer that stops reading cancels the generation's span, unless the generation was over", async () => {
    const { log } = begun();
    await log.step(started);
    for (const [round, until] of [
      [1, 1],
      [2, 3],
    ] as const) {
      log.write(roundStarted(round));
      const provider = telemetry.provider("demo", "openai", wireProvider({ chunks: 8 }));
      let reads = 0;
      for await (const _ of provider.stream?.(request(), generationContext("run-1", round)) ?? []) {
        if (++reads === until) break;
      }
    }
    await log.step(finished);
    const [early, late] = spans.named("chat small");
    expect(early?.attributes["venturi.cancelled"]).to.equal(true);
    expect(late?.attributes["venturi.cancelled"]).to.equal(undefined);
    expect(late?.attributes["gen_ai.response.finish_reasons"]).to.deep.equal(["stop"]);
    settled();
  });

  it("a stream that is never read has no span", async () => {
    telemetry
      .provider("demo", "openai", wireProvider({ chunks: 8 }))
      .stream?.(request(), generationContext("run-1", 1));
    expect(spans.ended).to.have.length(0);
    settled();
  });

  it("a signal that aborts for a limit fails the span with the limit's code", async () => {
    const abort = new AbortController();
    const provider = telemetry.provider(
      "demo",
      "openai",
      throwing(new Error("aborted"), () =>
        abort.abort(new VenturiError("agent.run", "budget_exceeded", "out of time")),
      ),
    );
    await rejected(generate(provider, "run-1", 1, abort.signal));
    expect(spans.named("chat small")[0]?.attributes["error.type"]).to.equal("budget_exceeded");
    settled();
  });

  it("a tool's failure is its span's, whether thrown, rejected or reported by a stream", async () => {
    const { log } = begun();
    await log.step(started);
    log.write(roundStarted(1));
    const broken = new VenturiError("tool.call", "tool_failed", "no");
    const calls: Tool["call"][] = [
      () => {
        throw broken;
      },
      async () => {
        throw broken;
      },
      async function* () {
        yield "progress";
        throw broken;
      },
    ];
    for (const [index, call] of calls.entries()) {
      await rejected(drained(telemetry.tool({ ...echo, call }), `call-${index}`));
      await log.step(toolFailed(`call-${index}`));
    }
    await log.step(roundFinished(1));
    await log.step(finished);
    const executions = spans.named("execute_tool echo");
    expect(executions.map((span) => span.attributes["error.type"])).to.deep.equal(Array(3).fill("tool_failed"));
    settled();
  });

  it("a tool that is left behind ends with its event, and its late result changes nothing", async () => {
    const { log } = begun();
    await log.step(started);
    log.write(roundStarted(1));
    let finish = (_output: unknown) => {};
    const tool = telemetry.tool({
      ...echo,
      call: () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    });
    const late = tool.call({}, toolContext("run-1", 1, "call-1"));
    await log.step(toolFailed("call-1", "tool_timeout"));
    expect(spans.named("execute_tool echo")[0]?.attributes["error.type"]).to.equal("tool_timeout");
    finish("late");
    expect(await late).to.equal("late");
    await log.step(finished);
    expect(spans.named("execute_tool echo")).to.have.length(1);
    settled();
  });

  it("an ownership that is fenced off or parked ends its spans and says so", async () => {
    const fenced = begun("run-1");
    await fenced.log.step(started);
    fenced.log.write(roundStarted(1));
    fenced.plain.abort.abort();
    const parked = begun("run-2");
    await parked.log.step(started);
    parked.log.write(roundStarted(1));
    await parked.log.park(0);
    const [one, two] = spans.named("invoke_agent assistant");
    expect(one?.attributes["venturi.run.abandoned"]).to.equal(true);
    expect(two?.attributes["venturi.run.parked"]).to.equal(true);
    settled();
  });

  it("a resumed run has a trace of its own, linked to the earlier one", async () => {
    const first = begun("run-1");
    await first.log.step(started);
    first.plain.abort.abort();
    const second = begun("run-1", first.plain.events);
    await telemetry.tool(echo).call({}, toolContext("run-1", 1, "call-1"));
    await second.log.step({ type: "tool.finished", round: 1, call: "call-1", name: "echo", ok: true, ms: 1 });
    await second.log.step(finished);
    const [earlier, later] = spans.named("invoke_agent assistant");
    expect(later?.parentSpanContext).to.equal(undefined);
    expect(later?.links[0]?.context.spanId).to.equal(earlier?.spanContext().spanId);
    expect(later?.spanContext().traceId).to.not.equal(earlier?.spanContext().traceId);
    expect(spans.named("venturi.round")[0]?.parentSpanContext?.spanId).to.equal(later?.spanContext().spanId);
    settled();
  });

  it("a run called as a tool is below the tool's span", async () => {
    const outer = begun("run-1");
    await outer.log.step(started);
    outer.log.write(roundStarted(1));
    const tool = telemetry.tool({
      ...echo,
      async call(_input, context) {
        const plain = new PlainLog("run-2");
        const parent = { run: "run-1", call: context.call, depth: 1 };
        const { traceparent } = context;
        const inner = telemetry.runLog(plain, claimOf(plain, { parent, ...(traceparent && { traceparent }) }), []);
        await inner.step({ ...started, agent: "helper" } as EventBody);
        await inner.step(finished);
      },
    });
    await tool.call({}, toolContext("run-1", 1, "call-1"));
    await outer.log.step({ type: "tool.finished", round: 1, call: "call-1", name: "echo", ok: true, ms: 1 });
    await outer.log.step(finished);
    const [execution] = spans.named("execute_tool echo");
    const [helper] = spans.named("invoke_agent helper");
    expect(helper?.parentSpanContext?.spanId).to.equal(execution?.spanContext().spanId);
    expect(helper?.spanContext().traceId).to.equal(execution?.spanContext().traceId);
    settled();
  });

  it("a retried and a failed-over ownership are rounds of their own, and are counted", async () => {
    const { log } = begun();
    await log.step(started);
    log.write(roundStarted(1, 1));
    await log.step({ type: "round.retracted", round: 1, attempt: 1, reason: "rate_limited" });
    log.write(roundStarted(1, 2));
    await log.step({ type: "round.retracted", round: 1, attempt: 2, reason: "unavailable" });
    log.write(roundStarted(1, 3, "other/large"));
    await log.step(roundFinished(1));
    await log.step(finished);
    expect(spans.named("venturi.round").map((span) => span.attributes["venturi.round.attempt"])).to.deep.equal([
      1, 2, 3,
    ]);
    const text = await telemetry.metrics();
    expect(text).to.match(/^venturi_retries_total\{.*code="rate_limited".*\} 1$/m);
    expect(text).to.match(/^venturi_failovers_total\{.*code="unavailable".*\} 1$/m);
    expect(text).to.match(/^venturi_retractions_total\{.*code="unavailable".*\} 1$/m);
    settled();
  });

  it("closing ends whatever is still open", async () => {
    const { log } = begun();
    await log.step(started);
    log.write(roundStarted(1));
    await telemetry.close();
    settled();
  });

  async function drained(tool: Tool, call: string): Promise<void> {
    const result = tool.call({}, toolContext("run-1", 1, call));
    if (typeof result === "object" && result !== null && Symbol.asyncIterator in result) {
      for await (const _ of result as AsyncIterable<string>);
    } else await result;
  }
});

const capabilities = { streaming: true, tools: true, vision: false, reasoning: false };

const throwing = (error: Error, before = () => {}): Provider => ({
  capabilities,
  // biome-ignore lint/correctness/useYield: it fails before anything came
  async *stream() {
    before();
    throw error;
  },
});

const saying = (deltas: Parameters<typeof Array.of>[0]): Provider => ({
  capabilities,
  async *stream() {
    yield deltas as never;
  },
});

const toolFailed = (call: string, code: "tool_failed" | "tool_timeout" = "tool_failed"): EventBody => ({
  type: "tool.finished",
  round: 1,
  call,
  name: "echo",
  ok: false,
  error: { op: "tool.call", code, err: "no" },
  ms: 1,
});

async function rejected(promise: Promise<unknown>): Promise<void> {
  const outcome = await promise.then(
    () => "resolved",
    () => "rejected",
  );
  expect(outcome).to.equal("rejected");
}
