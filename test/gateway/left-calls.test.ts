import { expect } from "chai";
import OpenAI from "openai";
import * as chat from "../plugins/openai/streams.ts";
import { type Gateway, gateway } from "./gateway.ts";

/** The model calls a tool of the agent's, which has no rounds for it, and one of the client's. */
const both = `${chat.event(
  JSON.stringify({
    tool_calls: [
      { index: 0, id: "c0", type: "function", function: { name: "calculator", arguments: '{"expression":"1+1"}' } },
      { index: 1, id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"Oslo"}' } },
    ],
  }),
)}${chat.event("{}", '"tool_calls"')}data: [DONE]\n\n`;

describe("a client's call that is whole when a limit of the run is reached", () => {
  let open: Gateway;
  let openai: OpenAI;
  before(async () => {
    open = await gateway({
      provider: "openai",
      answer: both,
      agents: "agents: { agent: { model: up/m, tools: [calculator], limits: { maxToolRounds: 0, onLimit: finish } } }",
      more: "tools: { calculator: { type: calculator } }",
    });
    openai = new OpenAI({ apiKey: "none", baseURL: `${open.url}/openai/v1`, maxRetries: 0 });
  });
  after(() => open.close());

  const parameters = { type: "object" as const, properties: { city: { type: "string" } } };
  const messages = [{ role: "user" as const, content: "hi" }];
  const asked = {
    model: "agent",
    messages,
    tools: [{ type: "function" as const, function: { name: "weather", parameters } }],
  };

  it("is in the whole answer as in the stream, on every wire", async () => {
    const call = { id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"Oslo"}' } };
    const [whole] = (await openai.chat.completions.create(asked)).choices;
    expect(whole?.message.tool_calls).to.deep.equal([call]);
    expect(whole?.finish_reason).to.equal("length");
    const names: unknown[] = [];
    for await (const { choices } of await openai.chat.completions.create({ ...asked, stream: true }))
      for (const each of choices[0]?.delta.tool_calls ?? []) if (each.id !== undefined) names.push(each.function?.name);
    expect(names).to.deep.equal(["weather"]);
    const message = await open.post("/anthropic/v1/messages", {
      model: "agent",
      max_tokens: 50,
      messages,
      tools: [{ name: "weather", input_schema: parameters }],
    });
    const { content, stop_reason } = (await message.json()) as { content: unknown; stop_reason: string };
    expect(content).to.deep.equal([{ type: "tool_use", id: "c1", name: "weather", input: { city: "Oslo" } }]);
    expect(stop_reason).to.equal("max_tokens");
    const run = await open.post("/v1/runs", {
      agent: "agent",
      input: "hi",
      tools: [{ name: "weather", parameters }],
    });
    expect(await run.json()).to.deep.include({
      finish: "max_rounds",
      calls: [{ call: "c1", name: "weather", arguments: { city: "Oslo" } }],
    });
  });

  it("can be answered", async () => {
    const tools = [{ type: "function" as const, name: "weather", parameters, strict: false }];
    open.answer(both);
    const first = await openai.responses.create({ model: "agent", input: "hi", tools });
    expect(first.output.map(({ type }) => type)).to.deep.equal(["function_call"]);
    open.answer(chat.text);
    const input = [{ type: "function_call_output" as const, call_id: "c1", output: "rain" }];
    const next = await openai.responses.create({ model: "agent", input, tools, previous_response_id: first.id });
    expect(next.status).to.equal("completed");
  });
});
