import { expect } from "chai";
import anthropic from "../../plugins/anthropic/index.ts";
import { AgUiProjection } from "../../plugins/channel-ag-ui/projection.ts";
import { UiProjection } from "../../plugins/channel-ai-sdk/projection.ts";
import { MessageProjection } from "../../plugins/channel-anthropic/projection.ts";
import { chatProjection } from "../../plugins/channel-openai/chat-projection.ts";
import { ResponseProjection } from "../../plugins/channel-openai/responses-projection.ts";
import { Projection } from "../../plugins/channel-websocket/projection.ts";
import gemini from "../../plugins/gemini/index.ts";
import ollama from "../../plugins/ollama/index.ts";
import openai from "../../plugins/openai/index.ts";
import responses from "../../plugins/openai-responses/index.ts";
import { type Delta, framesOf, type Provider, type RunEvent, type Wire } from "../../src/internal.ts";
import { Bench, tool } from "../agent/harness.ts";
import { orders } from "../orders.ts";
import { isSlow } from "../sweep.ts";

/** One call as a vendor writes it. */
interface Call {
  readonly index: number;
  readonly fragments: readonly string[];
  /** The bytes its pieces must add up to. */
  readonly bytes: string;
}

/** How a wire writes a call step by step, some text, and the end. */
interface Written {
  readonly plugin: { readonly wires?: Readonly<Record<string, Wire>> };
  call(call: Call): readonly string[];
  text(text: string): string;
  readonly before?: string;
  readonly end: string;
  readonly second: string;
}

const sse = (data: object, event?: string) => `${event ? `event: ${event}\n` : ""}data: ${JSON.stringify(data)}\n\n`;

const chatChunk = (delta: object, finish: string | null = null) =>
  sse({ id: "c", model: "m", choices: [{ index: 0, delta, finish_reason: finish }] });
const chat: Written = {
  plugin: openai,
  call: ({ index, fragments }) => [
    chatChunk({
      tool_calls: [{ index, id: `id${index}`, type: "function", function: { name: "look", arguments: "" } }],
    }),
    ...fragments.map((piece) => chatChunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ],
  text: (content) => chatChunk({ content }),
  end: `${chatChunk({}, "tool_calls")}data: [DONE]\n\n`,
  second: `${chatChunk({ content: "ok" })}${chatChunk({}, "stop")}data: [DONE]\n\n`,
};

const responsesEvent = (type: string, more: object) => sse({ type, ...more }, type);
const item = ({ index, bytes }: Call, status: string) => ({
  type: "function_call",
  id: `fc${index}`,
  call_id: `id${index}`,
  name: "look",
  arguments: status === "completed" ? bytes : "",
  status,
});
const responsesEnd = responsesEvent("response.completed", {
  response: { id: "r", model: "m", status: "completed", output: [] },
});
const responsesText = (delta: string) =>
  responsesEvent("response.output_text.delta", { item_id: "m", output_index: 9, content_index: 0, delta });
const responsesWire: Written = {
  plugin: responses,
  call: (call) => [
    responsesEvent("response.output_item.added", { output_index: call.index, item: item(call, "in_progress") }),
    ...call.fragments.map((delta) =>
      responsesEvent("response.function_call_arguments.delta", {
        item_id: `fc${call.index}`,
        output_index: call.index,
        delta,
      }),
    ),
    responsesEvent("response.output_item.done", { output_index: call.index, item: item(call, "completed") }),
  ],
  text: responsesText,
  before: responsesEvent("response.output_item.added", { output_index: 9, item: { type: "message", id: "m" } }),
  end: responsesEnd,
  second: responsesText("ok") + responsesEnd,
};

const messageEvent = (type: string, more: object = {}) => sse({ type, ...more }, type);
const begin = messageEvent("message_start", {
  message: { id: "m", model: "m", role: "assistant", content: [], usage: {} },
});
const stop = (stop_reason: string) =>
  messageEvent("message_delta", { delta: { stop_reason }, usage: {} }) + messageEvent("message_stop");
const block = (index: number, content_block: object) => messageEvent("content_block_start", { index, content_block });
const inBlock = (index: number, delta: object) => messageEvent("content_block_delta", { index, delta });
const messages: Written = {
  plugin: anthropic,
  call: ({ index, fragments }) => [
    block(index, { type: "tool_use", id: `id${index}`, name: "look", input: {} }),
    ...fragments.map((partial_json) => inBlock(index, { type: "input_json_delta", partial_json })),
    messageEvent("content_block_stop", { index }),
  ],
  text: (text) => inBlock(9, { type: "text_delta", text }),
  before: begin + block(9, { type: "text", text: "" }),
  end: messageEvent("content_block_stop", { index: 9 }) + stop("tool_use"),
  second:
    begin + block(0, { type: "text", text: "" }) + inBlock(0, { type: "text_delta", text: "ok" }) + stop("end_turn"),
};

const argsOf = ({ bytes }: Call): unknown => JSON.parse(bytes === "" ? "{}" : bytes);
const part = (parts: object[], more: object = {}) =>
  sse({ candidates: [{ content: { role: "model", parts }, ...more }] });
const geminiWire: Written = {
  plugin: gemini,
  call: (call) => [part([{ functionCall: { id: `id${call.index}`, name: "look", args: argsOf(call) } }])],
  text: (text) => part([{ text }]),
  end: part([], { finishReason: "STOP" }),
  second: part([{ text: "ok" }], { finishReason: "STOP" }),
};

const line = (message: object, more: object = {}) =>
  `${JSON.stringify({ model: "m", message: { role: "assistant", content: "", ...message }, done: false, ...more })}\n`;
const ollamaWire: Written = {
  plugin: ollama,
  call: (call) => [
    line({ tool_calls: [{ id: `id${call.index}`, function: { name: "look", arguments: argsOf(call) } }] }),
  ],
  text: (content) => line({ content }),
  end: line({}, { done: true, done_reason: "stop" }),
  second: line({ content: "ok" }) + line({}, { done: true, done_reason: "stop" }),
};

const wires: Record<string, Written> = {
  chat,
  responses: responsesWire,
  messages,
  gemini: geminiWire,
  ollama: ollamaWire,
};

/** Plays each text as one network read per element, decoded by the wire's own decoder. */
function player(wire: Wire, generations: readonly (readonly string[])[]): Provider {
  let asked = 0;
  return {
    capabilities: { streaming: true, tools: true, vision: false, reasoning: true },
    async *stream() {
      const frames = framesOf(wire.framing);
      const decoder = wire.decoder();
      for (const read of generations[asked++] ?? []) {
        const found: { data: string; event: string }[] = [];
        const deltas: Delta[] = [];
        frames.push(Buffer.from(read), found);
        for (const frame of found) decoder.push(frame, deltas);
        yield deltas;
      }
      const last: Delta[] = [];
      decoder.end(last);
      yield last;
    },
  };
}

const spec = {
  name: "look",
  description: "",
  parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "string" } } },
};

async function played(
  wire: Written,
  reads: readonly string[],
  own: boolean,
): Promise<{ events: RunEvent[]; ran: unknown[] }> {
  const ran: unknown[] = [];
  const look = tool("look", (input) => `${ran.push({ ...input })} seen`, { parameters: spec.parameters });
  const [decodes] = Object.values(wire.plugin.wires ?? {});
  if (decodes === undefined) throw new Error("the plugin has no wire");
  const all = [...(wire.before === undefined ? [] : [wire.before]), ...reads, wire.end];
  const bench = new Bench({
    model: player(decodes, [all, [wire.second]]),
    ...(own ? { tools: [look] } : { request: { clientTools: [spec] } }),
  });
  await bench.run();
  return { events: bench.events, ran };
}

type Shown = Map<string, { pieces: string; ends: number }>;

/** What a client puts together from a channel's frames: the pieces of each call, and how often it ended. */
const channels: Record<string, (events: readonly RunEvent[]) => Shown> = {
  chat: (events) => {
    const project = chatProjection({ run: "r", model: "m", includeUsage: false, legacy: false, custom: new Set() });
    const shown: Shown = new Map();
    const ids: string[] = [];
    for (const frame of dataOf(events.map(project))) {
      for (const call of frame.choices?.[0]?.delta?.tool_calls ?? []) {
        if (call.id !== undefined) ids[call.index] = call.id;
        add(shown, ids[call.index] ?? "?", call.function.arguments ?? "");
      }
      if (frame.choices?.[0]?.finish_reason) for (const id of ids) end(shown, id);
    }
    return shown;
  },
  responses: (events) => {
    const projection = new ResponseProjection({ run: "r", request: { agent: "a", input: {}, clientTools: [spec] } });
    const shown: Shown = new Map();
    const ids = new Map<string, string>();
    for (const frame of dataOf(events.map(projection.project))) {
      if (frame.type === "response.output_item.added" && frame.item.type === "function_call")
        ids.set(frame.item.id, frame.item.call_id);
      if (frame.type === "response.function_call_arguments.delta")
        add(shown, ids.get(frame.item_id) ?? "?", frame.delta);
      if (frame.type !== "response.output_item.done" || frame.item.type !== "function_call") continue;
      end(shown, frame.item.call_id);
      expect(frame.item.arguments).to.equal(shown.get(frame.item.call_id)?.pieces);
    }
    return shown;
  },
  messages: (events) => {
    const projection = new MessageProjection({ run: "r", model: "m" });
    const shown: Shown = new Map();
    let open: { index: number; id: string } | undefined;
    for (const frame of dataOf(events.map(projection.project))) {
      if (frame.type === "content_block_start") {
        expect(open, "a block begins inside another").to.equal(undefined);
        open = { index: frame.index, id: frame.content_block.id ?? "" };
        if (open.id !== "") add(shown, open.id, "");
      } else if (frame.type === "content_block_delta") {
        expect(frame.index).to.equal(open?.index);
        if (frame.delta.type === "input_json_delta") add(shown, open?.id ?? "?", frame.delta.partial_json);
      } else if (frame.type === "content_block_stop") {
        if (open?.id) end(shown, open.id);
        open = undefined;
      }
    }
    return shown;
  },
  "ag-ui": (events) => {
    const projection = new AgUiProjection({ threadId: "t", runId: "u", run: "r" });
    const shown: Shown = new Map();
    for (const frame of dataOf(events.map(projection.project))) {
      if (frame.type === "TOOL_CALL_START") add(shown, frame.toolCallId, "");
      if (frame.type === "TOOL_CALL_ARGS") add(shown, frame.toolCallId, frame.delta);
      if (frame.type === "TOOL_CALL_END") end(shown, frame.toolCallId);
    }
    return shown;
  },
  "ai-sdk": (events) => {
    const projection = new UiProjection("r");
    const shown: Shown = new Map();
    for (const frame of dataOf(events.map(projection.project))) {
      if (frame.type === "tool-input-start") add(shown, frame.toolCallId, "");
      if (frame.type === "tool-input-delta") add(shown, frame.toolCallId, frame.inputTextDelta);
      if (frame.type === "tool-input-available") end(shown, frame.toolCallId);
    }
    return shown;
  },
  websocket: (events) => {
    const projection = new Projection({ after: 0, sentences: false });
    const shown: Shown = new Map();
    for (const text of projection.messages(events)) {
      const message = JSON.parse(text);
      if (message.type !== "tool_call") continue;
      add(shown, message.call, JSON.stringify(message.arguments));
      end(shown, message.call);
    }
    return shown;
  },
};

// biome-ignore lint/suspicious/noExplicitAny: frames of five formats, read as a client without types would
const dataOf = (frames: readonly string[]): any[] =>
  frames
    .join("")
    .split("\n")
    .filter((text) => text.startsWith("data: {"))
    .map((text) => JSON.parse(text.slice(6)));

function add(shown: Shown, id: string, piece: string): void {
  const call = shown.get(id) ?? { pieces: "", ends: 0 };
  expect(call.ends, `arguments of ${id} after its end`).to.equal(0);
  shown.set(id, { ...call, pieces: call.pieces + piece });
}

function end(shown: Shown, id: string): void {
  const call = shown.get(id) ?? { pieces: "", ends: 0 };
  shown.set(id, { ...call, ends: call.ends + 1 });
}

/** One opening, pieces that add up, one seal, and where it runs here one start and one end, in this order. */
function checkEvents(events: readonly RunEvent[], calls: readonly Call[], own: boolean): void {
  for (const call of calls) {
    const mine = events.filter((event) => "call" in event && event.call === `id${call.index}`);
    const order = mine.map(({ type }) => type).filter((type) => type !== "tool_call.delta");
    const whole = ["tool_call.started", "tool_call.ready", ...(own ? ["tool.started", "tool.finished"] : [])];
    expect(order, `call ${call.index}`).to.deep.equal(whole);
    const sealed = mine.findIndex(({ type }) => type === "tool_call.ready");
    const pieces = mine.flatMap((event, at) =>
      event.type === "tool_call.delta" ? [{ at, text: event.arguments }] : [],
    );
    expect(pieces.every(({ at }) => at < sealed)).to.equal(true);
    expect(pieces.map(({ text }) => text).join("")).to.equal(call.bytes);
    expect(mine[sealed]).to.have.property("arguments").that.deep.equals(argsOf(call));
  }
}

const forms: Record<string, Omit<Call, "index">> = {
  arguments: { fragments: ['{"a"', ":1}"], bytes: '{"a":1}' },
  text: { fragments: ['{"b":"}', '{\\""}'], bytes: '{"b":"}{\\""}' },
  nothing: { fragments: [], bytes: "" },
  "an empty object": { fragments: ["{", "}"], bytes: "{}" },
};
const placeholder = { fragments: ["{}", '{"a":', "1}"], bytes: '{"a":1}' };

/** Pairs and triples of forms, on the Chat wire also with a gateway's placeholder. */
function mixes(name: string): Omit<Call, "index">[][] {
  const all = Object.values(name === "chat" ? { ...forms, placeholder } : forms);
  const pairs = all.flatMap((first) => all.map((second) => [first, second]));
  return [...pairs, ...pairs.slice(0, 6).map(([first, second], at) => [first, second, all[at % all.length]])].map(
    (mix) => mix.flatMap((form) => (form === undefined ? [] : [form])),
  );
}

describe("interleaved calls", () => {
  for (const [name, wire] of Object.entries(wires)) {
    for (const own of [true, false]) {
      it(`of ${own ? "our" : "the client's"} tools on the ${name} wire: nothing is invented, lost or done twice, in any order`, async () => {
        let tried = 0;
        for (const [at, mix] of mixes(name).entries()) {
          const calls = mix.map((form, index) => ({ ...form, index, bytes: written(name, form.bytes) }));
          const steps = [...calls.map((call) => wire.call(call)), [wire.text("said ")]];
          for (const reads of orders(steps, { most: isSlow ? 400 : 5, seed: at + 1 })) {
            // Gemini and Ollama number calls by arrival; here they arrive in the order of their ids.
            const { events, ran } = await played(wire, reads, own);
            checkEvents(events, calls, own);
            const wanted = calls.map(argsOf).map((input) => JSON.stringify(input));
            if (own) expect(ran.map((input) => JSON.stringify(input)).sort()).to.deep.equal([...wanted].sort());
            else for (const [channel, show] of Object.entries(channels)) checkShown(channel, show(events), calls);
            tried++;
          }
        }
        expect(tried).to.be.above(100);
      });
    }
  }
});

/** Gemini and Ollama send objects: no arguments are an empty one, and white space is not kept. */
const written = (wire: string, bytes: string): string =>
  (wire === "gemini" || wire === "ollama") && bytes === "" ? "{}" : bytes;

function checkShown(channel: string, shown: Shown, calls: readonly Call[]): void {
  expect(shown.size, channel).to.equal(calls.length);
  // Blocks of the Messages wire have an empty input of their own, as has the AI SDK's part.
  const none = channel === "messages" || channel === "ai-sdk" ? "" : "{}";
  for (const { index, bytes } of calls) {
    expect(shown.get(`id${index}`), `${channel}, call ${index}`).to.deep.equal({
      pieces: bytes === "" ? none : bytes,
      ends: 1,
    });
  }
}
