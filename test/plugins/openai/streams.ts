/** Chat Completions streams, each as the bytes of a body; written for these tests after the manner of real servers. */

const head = '"id":"cc-1","object":"chat.completion.chunk","created":1790000000,"model":"m-1"';

/** One event with one choice. */
export const event = (delta: string, finish = "null", rest = ""): string =>
  `data: {${head},"choices":[{"index":0,"delta":${delta},"finish_reason":${finish}}]${rest}}\n\n`;

export const stop = event("{}", '"stop"');
export const calls = event("{}", '"tool_calls"');
export const done = "data: [DONE]\n\n";
export const usage = `data: {${head},"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13,"prompt_tokens_details":{"cached_tokens":3},"completion_tokens_details":{"reasoning_tokens":0}}}\n\n`;

/** A tool-call fragment; `entry` is the inside of one element of `tool_calls`. */
export const fragment = (...entries: string[]): string =>
  event(`{"tool_calls":[${entries.map((e) => `{${e}}`).join(",")}]}`);

export const text = `: connected\n\n${event('{"role":"assistant","content":""}')}${event('{"content":"Grüße "}')}${event(
  '{"content":"aus 東京 🌊"}',
)}${stop}${usage}${done}`;

export const parallel =
  event('{"role":"assistant","content":null}') +
  fragment('"index":0,"id":"a","type":"function","function":{"name":"weather","arguments":""}') +
  fragment('"index":0,"function":{"arguments":"{\\"city\\":"}') +
  fragment('"index":1,"id":"b","type":"function","function":{"name":"time","arguments":"{\\"zo"}') +
  fragment('"index":0,"function":{"arguments":"\\"Oslo\\"}"}') +
  fragment('"index":1,"function":{"arguments":"ne\\":\\"CET\\"}"}') +
  calls +
  usage +
  done;

export const reasoning =
  event('{"role":"assistant","reasoning_content":"Let me ","content":null}') +
  event('{"reasoning_content":"think – ü","content":null}') +
  event('{"reasoning_content":null,"content":"42"}') +
  event('{"content":""}', '"stop"', ',"usage":{"prompt_tokens":5,"completion_tokens":7,"prompt_cache_hit_tokens":2}') +
  done;
