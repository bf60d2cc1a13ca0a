import Anthropic from "@anthropic-ai/sdk";
import { expect } from "chai";
import OpenAI from "openai";
import channelAiSdk from "../../plugins/channel-ai-sdk/index.ts";
import channelAnthropic from "../../plugins/channel-anthropic/index.ts";
import channelOpenai from "../../plugins/channel-openai/index.ts";
import type { EventBody } from "../../src/core/run/events.ts";
import type { Script } from "../../src/testing/scripted-run.ts";
import { serve, type TestService, text } from "../service.ts";

const started = (attempt: number): EventBody => ({ type: "round.started", round: 1, model: "test/model", attempt });
/** A call of the client's, cut within its arguments, and text that came beside it. */
const cut: EventBody[] = [
  text("Let me look. "),
  { type: "tool_call.started", round: 1, call: "c1", name: "weather", index: 0, client: true },
  { type: "tool_call.delta", round: 1, call: "c1", arguments: '{"city":"Os' },
  text("One moment."),
];
const retracted: EventBody = { type: "round.retracted", round: 1, attempt: 1, reason: "stream_error" };

/** Resolve when the runs of `retracting` are cancelled: nobody reads the rest. */
const cancelled: Promise<void>[] = [];
const retracting: Script = async ({ emit, signal }) => {
  emit(started(1), ...cut);
  emit(retracted, started(2));
  const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  cancelled.push(aborted);
  await aborted;
  return undefined;
};
const said: Script = async ({ emit }) => {
  emit(started(1), text("wrong, "), retracted, started(2), text("right"));
  return undefined;
};
/** Two attempts, each with text and the beginning or the whole of a call. */
const twice =
  (isWhole: boolean): Script =>
  async ({ emit, signal }) => {
    const ready: EventBody = {
      type: "tool_call.ready",
      round: 1,
      call: "c1",
      name: "weather",
      arguments: { city: "Os" },
    };
    emit(started(1), ...cut, ...(isWhole ? [ready] : []), retracted, started(2), text("It rains."));
    if (!isWhole) return undefined;
    const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    cancelled.push(aborted);
    await aborted;
    return undefined;
  };
/** The call is the last thing that was begun. */
const unseen: Script = async ({ emit }) => {
  emit(started(1), ...cut.slice(0, 3), retracted, started(2), text("It rains."));
  return undefined;
};
/** The second round is retracted once. */
const rounds: Script = async ({ emit }) => {
  const second = (attempt: number): EventBody => ({ ...started(attempt), round: 2 }) as EventBody;
  const think = (round: number, words: string): EventBody => ({ type: "reasoning.delta", round, text: words });
  const say = (words: string): EventBody => ({ type: "text.delta", round: 2, text: words });
  emit(started(1), think(1, "Why?"), text("One."), {
    type: "round.finished",
    round: 1,
    finish: "tool_calls",
    usage: {},
  });
  emit(second(1), say("Wrong."), think(2, "Hm."), { ...retracted, round: 2 } as EventBody);
  emit(second(2), say("Two."), think(2, "So."));
  return undefined;
};
const limited: Script = async ({ emit }) => {
  emit(started(1), ...cut);
  return { finish: "max_time" };
};

describe("a call that was cut, as clients see it", () => {
  let service: TestService;
  let anthropic: Anthropic;
  let openai: OpenAI;
  before(async () => {
    service = await serve({
      scripts: {
        retracting,
        said,
        rounds,
        limited,
        "cut-unseen": unseen,
        "cut-twice": twice(false),
        "whole-twice": twice(true),
      },
      channels: [{ plugin: channelAnthropic }, { plugin: channelOpenai }, { plugin: channelAiSdk }],
    });
    anthropic = new Anthropic({ apiKey: "none", baseURL: `${service.url}/anthropic`, maxRetries: 0 });
    openai = new OpenAI({ apiKey: "none", baseURL: `${service.url}/openai/v1`, maxRetries: 0 });
  });
  after(() => service.close());

  const parameters = { type: "object" as const, properties: { city: { type: "string" } } };
  const messages = [{ role: "user" as const, content: "hi" }];
  const asked = (model: string) => ({
    model,
    max_tokens: 100,
    messages,
    tools: [{ name: "weather", input_schema: parameters }],
  });
  const chat = (model: string) => ({
    model,
    messages,
    tools: [{ type: "function" as const, function: { name: "weather", parameters } }],
  });
  const response = (model: string) => ({
    model,
    input: "hi",
    tools: [{ type: "function" as const, name: "weather", parameters, strict: false }],
  });
  const failure = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      (answer) => answer,
      (thrown: unknown) => thrown,
    );
  const collect = async (stream: AsyncIterable<unknown>) => {
    for await (const _ of stream);
  };

  it("is not left to a client of a wire that cannot take it back: its stream fails, and the run is cancelled", async () => {
    const message = await failure(anthropic.messages.stream(asked("retracting")).finalMessage());
    expect(message).to.be.instanceOf(Anthropic.APIError);
    expect(String(message)).to.include("stream_error");
    const chunks = await failure(openai.chat.completions.create({ ...chat("retracting"), stream: true }).then(collect));
    expect(chunks).to.be.instanceOf(OpenAI.APIError);
    expect(chunks).to.include({ code: "stream_error" });
    await Promise.all(cancelled);
    expect(cancelled).to.have.length(2);
  });

  it("goes on after text alone, which the wire cannot take back either", async () => {
    const message = await anthropic.messages.stream(asked("said")).finalMessage();
    expect(message.content).to.deep.equal([{ type: "text", text: "wrong, right" }]);
  });

  it("takes nothing of it, and nothing of earlier rounds, out of a whole answer", async () => {
    const message = await anthropic.messages.create(asked("rounds"));
    expect(message.content.map((block) => (block.type === "text" ? block.text : block.type))).to.deep.equal([
      "thinking",
      "One.\n\nTwo.",
      "thinking",
    ]);
    const [choice] = (await openai.chat.completions.create(chat("rounds"))).choices;
    expect(choice?.message).to.deep.include({ content: "One.\n\nTwo.", reasoning_content: "Why?So." });
    expect((await openai.responses.create(response("rounds"))).output_text).to.equal("One.Two.");
  });

  it("leaves its place in a Responses stream taken: what follows has a new one, and the response is without it", async () => {
    const items = new Map<number, string>();
    const texts = new Map<number, string>();
    for await (const event of await openai.responses.create({ ...response("cut-twice"), stream: true })) {
      if (event.type === "response.output_item.added") {
        expect(items.has(event.output_index), `${event.output_index} again`).to.equal(false);
        items.set(event.output_index, event.item.id ?? "");
      }
      if (event.type === "response.output_item.done" && event.item.type === "function_call")
        expect(event.item.status).to.equal("incomplete");
      if (event.type === "response.output_text.delta")
        texts.set(event.output_index, (texts.get(event.output_index) ?? "") + event.delta);
      if (event.type !== "response.completed") continue;
      const [item, ...others] = event.response.output;
      expect(others).to.deep.equal([]);
      expect([...items.values()].at(-1)).to.equal(item?.id);
    }
    expect(new Set(items.values()).size).to.equal(4);
    expect([...texts.values()]).to.deep.equal(["Let me look. ", "One moment.", "It rains."]);
    const streamed = await openai.responses.stream({ ...response("cut-twice") }).finalResponse();
    const whole = await openai.responses.create(response("cut-twice"));
    expect([streamed.output_text, whole.output_text]).to.deep.equal(["It rains.", "It rains."]);
  });

  it("takes no place in a Responses stream that the client did not see", async () => {
    const indexes: number[] = [];
    const tools = [{ type: "custom" as const, name: "weather" }];
    const stream = await openai.responses.create({ model: "cut-unseen", input: "hi", tools, stream: true });
    for await (const event of stream) if (event.type === "response.output_item.added") indexes.push(event.output_index);
    expect(indexes).to.deep.equal([0, 1]);
  });

  it("fails a Responses stream once the call was whole, and the run is cancelled", async () => {
    const before = cancelled.length;
    const failed = await failure(
      openai.responses.create({ ...response("whole-twice"), stream: true }).then(async (stream) => {
        for await (const event of stream) if (event.type === "error") return event;
        return undefined;
      }),
    );
    expect(String((failed as { message?: string }).message)).to.include("a call of it had been sent");
    await Promise.all(cancelled);
    expect(cancelled).to.have.length(before + 1);
  });

  it("ends at a limit of the run as at one of the model, without losing text", async () => {
    const streamed = await anthropic.messages.stream(asked("limited")).finalMessage();
    const whole = await anthropic.messages.create(asked("limited"));
    expect([streamed.stop_reason, whole.stop_reason]).to.deep.equal(["max_tokens", "max_tokens"]);
    const textIn = ({ content }: Anthropic.Message) =>
      content.map((block) => (block.type === "text" ? block.text : "")).join("");
    expect(textIn(streamed)).to.equal("Let me look. One moment.");
    expect(textIn(whole)).to.equal(textIn(streamed));
    const types: string[] = [];
    for await (const { type } of await anthropic.messages.create({ ...asked("limited"), stream: true }))
      types.push(type);
    const count = (type: string) => types.filter((each) => each === type).length;
    expect(count("content_block_stop")).to.equal(count("content_block_start"));
  });

  it("ends so for clients of OpenAI's wires", async () => {
    const whole = await openai.chat.completions.create(chat("limited"));
    expect(whole.choices[0]?.finish_reason).to.equal("length");
    let last: string | null | undefined;
    for await (const { choices } of await openai.chat.completions.create({ ...chat("limited"), stream: true })) {
      last = choices[0]?.finish_reason ?? last;
    }
    expect(last).to.equal("length");
    const items: unknown[] = [];
    for await (const event of await openai.responses.create({ ...response("limited"), stream: true })) {
      if (event.type === "response.output_item.done") items.push(event.item);
      if (event.type !== "response.incomplete") continue;
      expect(event.response.incomplete_details).to.deep.equal({ reason: "max_output_tokens" });
      expect(event.response.output).to.have.length(3);
      for (const item of event.response.output) expect(items).to.deep.include(item);
    }
    expect(items.map((item) => (item as { status: string }).status)).to.include("incomplete");
    const completion = await openai.completions.create({ model: "limited", prompt: "hi" });
    expect(completion.choices[0]?.finish_reason).to.equal("length");
  });

  it("ends so for the AI SDK", async () => {
    const answer = await fetch(`${service.url}/ai-sdk/limited`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ id: "c", messages: [{ id: "m", role: "user", parts: [{ type: "text", text: "hi" }] }] }),
    });
    expect(await answer.text()).to.include('"finishReason":"length"');
  });
});
