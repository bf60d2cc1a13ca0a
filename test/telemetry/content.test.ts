import { expect } from "chai";
import type { Message } from "../../src/core/model/messages.ts";
import { silentLog } from "../../src/core/ports/log.ts";
import type { EventBody } from "../../src/core/run/events.ts";
import { createTelemetry, defaultSettings } from "../../src/telemetry/index.ts";
import { Content } from "../../src/telemetry/wrappers/content.ts";
import { claimOf, echo, finished, generate, PlainLog, started, toolContext, wireProvider } from "./drive.ts";
import { OpenSpans } from "./open-spans.ts";

describe("content in spans", () => {
  async function attributesWith(content: "off" | "full") {
    const spans = new OpenSpans();
    const telemetry = await createTelemetry(
      { ...defaultSettings, content },
      { log: silentLog, spanProcessors: [spans] },
    );
    await generate(telemetry.provider("demo", "openai", wireProvider({ chunks: 2 })), "run-1", 1);
    await telemetry.tool(echo).call({ to: "jane@example.com" }, toolContext("run-1", 1, "call-1"));
    await telemetry.close();
    return Object.assign({}, ...spans.ended.map((span) => span.attributes)) as Record<string, unknown>;
  }

  it("is none unless it is asked for", async () => {
    const attributes = await attributesWith("off");
    expect(JSON.stringify(attributes)).to.not.match(/hello|piece|jane|gen_ai\.(input|output)\.messages/);
  });

  it("is messages, arguments and results as redacted JSON when it is", async () => {
    const attributes = await attributesWith("full");
    expect(parse(attributes["gen_ai.input.messages"])).to.deep.equal([
      { role: "user", parts: [{ type: "text", content: "hello" }] },
    ]);
    expect(parse(attributes["gen_ai.output.messages"])).to.deep.equal([
      { role: "assistant", parts: [{ type: "text", content: "piece 0 piece 1 " }], finish_reason: "stop" },
    ]);
    expect(parse(attributes["gen_ai.tool.call.arguments"])).to.deep.equal({ to: "[redacted]" });
    expect(parse(attributes["gen_ai.tool.call.result"])).to.deep.equal({ to: "[redacted]" });
  });
  it("has each result of parallel calls in a message of its own", () => {
    const content = new Content({ content: "full", redact: [] });
    const result = (call: string) => ({
      type: "tool_result" as const,
      call,
      name: "look",
      ok: true,
      output: `${call} is 4`,
    });
    const messages: Message[] = [{ role: "tool", parts: [result("a"), result("b")] }];
    expect(parse(content.input(messages))).to.deep.equal([
      { role: "tool", parts: [{ type: "tool_call_response", id: "a", response: "a is 4" }] },
      { role: "tool", parts: [{ type: "tool_call_response", id: "b", response: "b is 4" }] },
    ]);
  });

  it("is on the root span too: what the run was asked, and its answer", async () => {
    const spans = new OpenSpans();
    const telemetry = await createTelemetry({ ...defaultSettings, content: "full" }, { spanProcessors: [spans] });
    const plain = new PlainLog("run-1");
    const log = telemetry.runLog(plain, claimOf(plain, { input: { text: "mail jane@example.com" } }), []);
    await log.step(started);
    await log.step({ ...finished, output: "done" } as EventBody);
    await telemetry.close();
    const root = spans.named("invoke_agent assistant")[0]?.attributes ?? {};
    expect(parse(root["gen_ai.input.messages"])).to.deep.equal([
      { role: "user", parts: [{ type: "text", content: "mail [redacted]" }] },
    ]);
    expect(root).to.include({ "input.value": "mail [redacted]", "output.value": "done" });
    expect(parse(root["gen_ai.output.messages"])).to.deep.equal([
      { role: "assistant", parts: [{ type: "text", content: "done" }], finish_reason: "stop" },
    ]);
  });
});

const parse = (json: unknown): unknown => JSON.parse(String(json));
