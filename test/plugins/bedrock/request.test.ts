import { expect } from "chai";
import { bodyOf, countedBody, ignoredBy } from "../../../plugins/bedrock/request.ts";
import type { GenerationRequest } from "../../../src/plugin.ts";
import { conversation } from "../conversation.ts";

const claude = "eu.anthropic.claude-sonnet-5-v1:0";
const tool = { name: "now", description: "the time", parameters: { properties: {} } };
const request = (more: Partial<GenerationRequest> = {}): GenerationRequest => ({
  model: claude,
  messages: [{ role: "user", parts: [{ type: "text", text: "Hi" }] }],
  tools: [],
  options: {},
  ...more,
});

describe("a request to Bedrock", () => {
  it("sends a whole conversation in its format, signed thoughts and opaque parts of its own wire included", () => {
    const body = bodyOf(request({ messages: conversation("bedrock-converse") }));
    expect(body.system).to.deep.equal([{ text: "Be brief." }]);
    expect(body.messages).to.deep.equal([
      {
        role: "user",
        content: [{ text: "When is high water?" }, { image: { format: "png", source: { bytes: "iVBORw0=" } } }],
      },
      {
        role: "assistant",
        content: [
          { reasoningContent: { reasoningText: { text: "Two ports.", signature: "sig+1/=" } } },
          { reasoningContent: { redactedContent: "enc+1/=" } },
          { text: "One moment." },
          { kept: "as it came" },
          { toolUse: { toolUseId: "toolu_1", name: "tide_table", input: { port: "Kiel" } } },
          { toolUse: { toolUseId: "call_1", name: "now", input: {} } },
        ],
      },
      {
        role: "user",
        content: [
          { toolResult: { toolUseId: "toolu_1", content: [{ text: '{"high":"12:00"}' }] } },
          {
            toolResult: {
              toolUseId: "call_1",
              content: [{ text: "tool_failed: no clock" }, { image: { format: "png", source: { bytes: "aWNvbg==" } } }],
              status: "error",
            },
          },
          { text: "And tomorrow?" },
        ],
      },
    ]);
  });

  it("has settings, tools, a choice and a schema where Converse has them, and everything else beside them", () => {
    const body = bodyOf(
      request({
        tools: [tool],
        toolChoice: "required",
        output: { name: "answer", schema: { type: "object" } },
        options: {
          temperature: 0.5,
          topP: 0.9,
          maxTokens: 10,
          stop: ["END"],
          performanceConfig: { latency: "optimized" },
        },
      }),
    );
    expect(body).to.deep.include({
      inferenceConfig: { maxTokens: 10, temperature: 0.5, topP: 0.9, stopSequences: ["END"] },
      toolConfig: {
        tools: [
          {
            toolSpec: {
              name: "now",
              description: "the time",
              inputSchema: { json: { type: "object", properties: {} } },
            },
          },
        ],
        toolChoice: { any: {} },
      },
      outputConfig: {
        textFormat: { type: "json_schema", structure: { jsonSchema: { name: "answer", schema: '{"type":"object"}' } } },
      },
      performanceConfig: { latency: "optimized" },
    });
    expect(countedBody(body)).to.have.all.keys("messages", "toolConfig");
  });

  it("asks for reasoning as each vendor's models take it, and says where it cannot", () => {
    const asked = (model: string, reasoning: GenerationRequest["options"]["reasoning"]) => {
      const one = request({ model, options: reasoning === undefined ? {} : { reasoning } });
      return bodyOf(one).additionalModelRequestFields ?? ignoredBy(one);
    };
    expect(asked(claude, { budget: 2_000 })).to.deep.equal({ thinking: { type: "enabled", budget_tokens: 2_000 } });
    expect(asked(claude, { effort: "minimal" })).to.deep.equal({
      thinking: { type: "adaptive" },
      output_config: { effort: "low" },
    });
    expect(asked("openai.gpt-oss-120b-1:0", { effort: "max" })).to.deep.equal({ reasoning_effort: "high" });
    expect(asked("us.amazon.nova-2-lite-v1:0", { effort: "low" })).to.deep.equal({
      reasoningConfig: { type: "enabled", maxReasoningEffort: "low" },
    });
    expect(asked("meta.llama3-70b-instruct-v1:0", { effort: "low" })).to.deep.equal(["reasoning"]);
    expect(asked("meta.llama3-70b-instruct-v1:0", { effort: "none" })).to.deep.equal([]);
  });

  it("sets cache points only for models that take them, after the tools, the system text and the last turn", () => {
    const cached = { tools: [tool], cache: { mode: "1h", key: "k" }, messages: conversation("") } as const;
    const body = bodyOf(request(cached));
    const point = { cachePoint: { type: "default", ttl: "1h" } };
    const last = (list: unknown) => (list as unknown[]).at(-1);
    expect(last(body.system)).to.deep.equal(point);
    expect(last((body.toolConfig as { tools: unknown[] }).tools)).to.deep.equal(point);
    expect(last((last(body.messages) as { content: unknown[] }).content)).to.deep.equal(point);
    expect(JSON.stringify(bodyOf(request({ ...cached, model: "meta.llama3-70b-instruct-v1:0" })))).not.to.include(
      "cachePoint",
    );
    expect(JSON.stringify(bodyOf(request({ cache: { mode: "auto" } })))).not.to.include("cachePoint");
  });

  it("takes pictures and documents as data or from S3, by a name that it accepts", () => {
    const parts = [
      { type: "image", mediaType: "image/jpeg", url: "s3://bucket/a.jpg" },
      { type: "file", mediaType: "application/pdf", data: "AA==", name: "Q3_report  (final).pdf" },
      { type: "file", mediaType: "text/markdown", data: "AA==" },
    ] as const;
    expect(bodyOf(request({ messages: [{ role: "user", parts: [...parts] }] })).messages).to.deep.equal([
      {
        role: "user",
        content: [
          { image: { format: "jpeg", source: { s3Location: { uri: "s3://bucket/a.jpg" } } } },
          { document: { format: "pdf", name: "Q3 report (final) pdf", source: { bytes: "AA==" } } },
          { document: { format: "txt", name: "document", source: { bytes: "AA==" } } },
        ],
      },
    ]);
    const elsewhere = { type: "image", mediaType: "image/png", url: "https://example.com/a.png" } as const;
    expect(() => bodyOf(request({ messages: [{ role: "user", parts: [elsewhere] }] }))).to.throw("s3://");
  });

  it("offers no tools where none may be called, unless the conversation has calls", () => {
    const none = { tools: [tool], toolChoice: "none" } as const;
    expect(bodyOf(request(none))).not.to.have.property("toolConfig");
    const after = request({ ...none, messages: conversation("") });
    expect(bodyOf(after)).to.have.property("toolConfig");
    expect(ignoredBy(after)).to.deep.equal(["tool_choice"]);
  });
});
