import { expect } from "chai";
import { silentLog } from "../../src/core/log.ts";
import { createTelemetry, defaultSettings } from "../../src/telemetry/index.ts";
import { echo, generate, toolContext, wireProvider } from "./drive.ts";
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
});

const parse = (json: unknown): unknown => JSON.parse(String(json));
