/** A vendor's answer in one piece, as its server streams it, and as a client of its library puts the pieces together. */

// biome-ignore lint/suspicious/noExplicitAny: answers of three vendors, by path
export type Json = any;

export const sse = (...events: Json[]): string =>
  events.map((data) => `event: ${data.type ?? ""}\ndata: ${JSON.stringify(data)}\n\n`).join("");

/** Null, an empty list, an empty object and a field that is not there say the same. */
export function plain(value: Json): Json {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(([name, each]): [string, Json] => [name, plain(each)]);
  return Object.fromEntries(fields.filter(([, each]) => each !== null && !isEmpty(each)));
}

const isEmpty = (value: Json): boolean => typeof value === "object" && Object.keys(value).length === 0;

const halves = (text: string): [string, string] => {
  const all = [...text];
  const middle = Math.ceil(all.length / 2);
  return [all.slice(0, middle).join(""), all.slice(middle).join("")];
};

export const chat = {
  streamed({ choices: [choice], usage, object: _, ...head }: Json): string {
    const { message, logprobs, finish_reason, index: _i, ...others } = choice;
    const { role, content, refusal, tool_calls = [], audio, annotations, ...rest } = message;
    const chunk = (delta: Json, more = {}) => ({
      ...head,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, finish_reason: null, ...more }],
    });
    const texts = halves(content ?? "");
    const shares = [logprobs?.content?.slice(0, 1), logprobs?.content?.slice(1)];
    const withShare = (at: number) => (shares[at]?.length ? { logprobs: { content: shares[at], refusal: null } } : {});
    const chunks = [chunk({ role, content: "" }), chunk({ content: texts[0] }, withShare(0))];
    if (texts[1] !== "" || shares[1]?.length) chunks.push(chunk({ content: texts[1] }, withShare(1)));
    if (refusal) chunks.push(chunk({ refusal }, logprobs?.refusal ? { logprobs: { refusal: logprobs.refusal } } : {}));
    else if (logprobs?.refusal) chunks.push(chunk({}, { logprobs: { refusal: logprobs.refusal } }));
    if (Object.keys(rest).length > 0) chunks.push(chunk(rest));
    if (annotations) chunks.push(chunk({ annotations }));
    if (audio) {
      const { data, transcript, ...facts } = audio;
      chunks.push(chunk({ audio: facts }), chunk({ audio: { transcript } }));
      for (const piece of halves(data)) chunks.push(chunk({ audio: { data: piece } }));
    }
    for (const [at, call] of tool_calls.entries()) {
      const [first, second] = halves(call.function?.arguments ?? "");
      const begun = call.function ? { ...call, function: { ...call.function, arguments: first } } : call;
      chunks.push(chunk({ tool_calls: [{ index: at, ...begun }] }));
      if (second) chunks.push(chunk({ tool_calls: [{ index: at, function: { arguments: second } }] }));
    }
    chunks.push(chunk({}, { ...others, finish_reason }));
    return `${sse(...chunks, { ...head, object: "chat.completion.chunk", choices: [], usage })}data: [DONE]\n\n`;
  },

  assembled(events: readonly string[]): Json {
    const whole: Json = { choices: [{ index: 0, message: {} }] };
    for (const data of events) {
      if (data === "[DONE]") continue;
      const { choices, object: _, ...head } = JSON.parse(data);
      Object.assign(whole, head, { object: "chat.completion" });
      for (const { delta, index: _i, ...choice } of choices) {
        merge(whole.choices[0], choice);
        const { tool_calls = [], ...message } = delta;
        merge(whole.choices[0].message, message);
        for (const { index, ...call } of tool_calls) {
          whole.choices[0].message.tool_calls ??= [];
          whole.choices[0].message.tool_calls[index] ??= {};
          merge(whole.choices[0].message.tool_calls[index], call);
        }
      }
    }
    return whole;
  },
};

/** As the vendor's library adds up deltas. */
function merge(into: Json, more: Json): void {
  for (const [name, value] of Object.entries<Json>(more)) {
    const before = into[name];
    if (value === null || value === undefined) continue;
    if (Array.isArray(before) && Array.isArray(value)) into[name] = [...before, ...value];
    else if (typeof before === "object" && before !== null && typeof value === "object") merge(before, value);
    else if (typeof before === "string" && typeof value === "string" && !fixed.has(name)) into[name] = before + value;
    else into[name] = structuredClone(value);
  }
}
const fixed = new Set(["id", "type", "role", "finish_reason", "name"]);

export const messages = {
  streamed({ content, stop_reason, stop_sequence, stop_details, container, usage, ...head }: Json): string {
    const { output_tokens, ...read } = usage;
    const message = {
      ...head,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...read, output_tokens: 1 },
    };
    const blocks = content.flatMap((block: Json, index: number) => messageBlock(block, index));
    return sse(
      { type: "message_start", message },
      ...blocks,
      {
        type: "message_delta",
        delta: { stop_reason, stop_sequence, stop_details, container },
        usage: { output_tokens },
      },
      { type: "message_stop" },
    );
  },

  assembled(events: readonly string[]): Json {
    let whole: Json;
    const inputs = new Map<number, string>();
    for (const event of events.map((data) => JSON.parse(data))) {
      const block = whole?.content[event.index];
      if (event.type === "message_start") whole = structuredClone(event.message);
      else if (event.type === "content_block_start") whole.content[event.index] = event.content_block;
      else if (event.type === "content_block_delta") {
        const { delta } = event;
        if (delta.type === "text_delta") block.text += delta.text;
        else if (delta.type === "thinking_delta") block.thinking += delta.thinking;
        else if (delta.type === "signature_delta") block.signature += delta.signature;
        else if (delta.type === "citations_delta") block.citations = [...(block.citations ?? []), delta.citation];
        else if (delta.type === "input_json_delta") {
          inputs.set(event.index, (inputs.get(event.index) ?? "") + delta.partial_json);
          block.input = {};
        }
      } else if (event.type === "content_block_stop") {
        const text = inputs.get(event.index);
        if (text) block.input = JSON.parse(text);
      } else if (event.type === "message_delta") {
        const { type: _, delta, usage, ...beside } = event;
        Object.assign(whole, delta, beside);
        Object.assign(whole.usage, usage);
      }
    }
    return whole;
  },
};

function messageBlock(block: Json, index: number): Json[] {
  const deltas: Json[] = [];
  let start = block;
  if (block.type === "text") {
    start = { ...block, text: "", citations: block.citations ? [] : null };
    for (const text of halves(block.text)) deltas.push({ type: "text_delta", text });
    for (const citation of block.citations ?? []) deltas.push({ type: "citations_delta", citation });
  } else if (block.type === "thinking") {
    start = { ...block, thinking: "", signature: "" };
    deltas.push({ type: "thinking_delta", thinking: block.thinking });
    deltas.push({ type: "signature_delta", signature: block.signature });
  } else if (block.input !== undefined) {
    start = { ...block, input: {} };
    for (const partial_json of halves(JSON.stringify(block.input)))
      deltas.push({ type: "input_json_delta", partial_json });
  }
  return [
    { type: "content_block_start", index, content_block: start },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
}

export const responses = {
  streamed({ output, ...response }: Json): string {
    const begun = { ...response, output: [], status: "in_progress", usage: null, completed_at: null };
    const items = output.flatMap((item: Json, index: number) => itemEvents(item, index));
    return sse(
      { type: "response.created", response: begun },
      { type: "response.in_progress", response: begun },
      ...items,
      { type: "response.completed", response: { ...response, output } },
    );
  },

  /** The last event has the whole response; the events of its items say the same. */
  assembled(events: readonly string[]): Json {
    const told = events.map((data) => JSON.parse(data));
    const { response } = told.at(-1);
    const items = told.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item);
    return { ...response, output: items };
  },
};

function itemEvents(item: Json, output_index: number): Json[] {
  const place = { item_id: item.id, output_index };
  const added = (begun: Json) => ({ type: "response.output_item.added", output_index, item: begun });
  const done = { type: "response.output_item.done", output_index, item };
  if (item.type === "message") {
    const parts = item.content.flatMap((part: Json, content_index: number) =>
      partEvents(part, { ...place, content_index }),
    );
    return [added({ ...item, status: "in_progress", content: [] }), ...parts, done];
  }
  if (item.type === "reasoning") {
    const summaries = item.summary.flatMap(({ text }: Json, summary_index: number) => [
      { type: "response.reasoning_summary_text.delta", ...place, summary_index, delta: text },
      { type: "response.reasoning_summary_text.done", ...place, summary_index, text },
    ]);
    const thoughts = (item.content ?? []).flatMap(({ text }: Json, content_index: number) => [
      { type: "response.reasoning_text.delta", ...place, content_index, delta: text },
      { type: "response.reasoning_text.done", ...place, content_index, text },
    ]);
    const { content: _, encrypted_content: _e, status: _s, ...begun } = item;
    return [added({ ...begun, summary: [] }), ...summaries, ...thoughts, done];
  }
  if (item.type !== "function_call") return [added(item), done];
  const pieces = halves(item.arguments).map((delta) => ({
    type: "response.function_call_arguments.delta",
    ...place,
    delta,
  }));
  const whole = { type: "response.function_call_arguments.done", ...place, arguments: item.arguments };
  return [added({ ...item, status: "in_progress", arguments: "" }), ...pieces, whole, done];
}

function partEvents(part: Json, place: Json): Json[] {
  if (part.type === "refusal") {
    return [
      { type: "response.refusal.delta", ...place, delta: part.refusal },
      { type: "response.refusal.done", ...place, refusal: part.refusal },
    ];
  }
  const logprobs = part.logprobs ?? [];
  const [first, second] = halves(part.text);
  return [
    { type: "response.output_text.delta", ...place, delta: first, logprobs: logprobs.slice(0, 1) },
    { type: "response.output_text.delta", ...place, delta: second, logprobs: logprobs.slice(1) },
    ...part.annotations.map((annotation: Json, annotation_index: number) => ({
      type: "response.output_text.annotation.added",
      ...place,
      annotation_index,
      annotation,
    })),
    { type: "response.output_text.done", ...place, text: part.text, logprobs },
  ];
}
