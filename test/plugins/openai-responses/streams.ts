/** Responses streams, each as the bytes of a body; written for these tests after the manner of real servers. */

let sequence = 0;

/** One event; `fields` is the inside of the payload after its type. */
export const event = (type: string, fields: string): string =>
  `event: ${type}\ndata: {"type":"${type}","sequence_number":${sequence++},${fields}}\n\n`;

export const created = event(
  "response.created",
  '"response":{"id":"resp_1","model":"m-1","status":"in_progress","output":[]}',
);

export const completed = (output = "[]", rest = ""): string =>
  event(
    "response.completed",
    `"response":{"id":"resp_1","model":"m-1","status":"completed","error":null,"output":${output},"usage":{"input_tokens":8,"input_tokens_details":{"cached_tokens":2},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":13}${rest}}`,
  );

export const added = (index: number, item: string): string =>
  event("response.output_item.added", `"output_index":${index},"item":{${item}}`);
export const finished = (index: number, item: string): string =>
  event("response.output_item.done", `"output_index":${index},"item":{${item}}`);

export const textDelta = (index: number, text: string, id = "msg_1"): string =>
  event(
    "response.output_text.delta",
    `"output_index":${index},"content_index":0,"item_id":"${id}","delta":${JSON.stringify(text)}`,
  );

export const argumentsDelta = (index: number, text: string, id = "fc_1"): string =>
  event(
    "response.function_call_arguments.delta",
    `"output_index":${index},"item_id":"${id}","delta":${JSON.stringify(text)}`,
  );
export const argumentsDone = (index: number, text: string, id = "fc_1"): string =>
  event(
    "response.function_call_arguments.done",
    `"output_index":${index},"item_id":"${id}","arguments":${JSON.stringify(text)}`,
  );

export const message = (text: string): string =>
  `"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":${JSON.stringify(text)},"annotations":[]}]`;

export const call = (id: string, name: string, args: string, itemId = "fc_1"): string =>
  `"id":"${itemId}","type":"function_call","call_id":"${id}","name":"${name}","arguments":${JSON.stringify(args)},"status":"completed"`;

export const text =
  created +
  added(0, '"id":"msg_1","type":"message","role":"assistant","content":[]') +
  textDelta(0, "Grüße ") +
  textDelta(0, "aus 東京 🌊") +
  event(
    "response.output_text.done",
    '"output_index":0,"content_index":0,"item_id":"msg_1","text":"Grüße aus 東京 🌊"',
  ) +
  finished(0, message("Grüße aus 東京 🌊")) +
  completed();

export const parallel =
  created +
  added(0, call("a", "weather", "", "fc_1")) +
  argumentsDelta(0, '{"city":') +
  added(1, call("b", "time", "", "fc_2")) +
  argumentsDelta(1, '{"zo', "fc_2") +
  argumentsDelta(0, '"Oslo"}') +
  argumentsDone(0, '{"city":"Oslo"}') +
  finished(0, call("a", "weather", '{"city":"Oslo"}', "fc_1")) +
  argumentsDelta(1, 'ne":"CET"}', "fc_2") +
  argumentsDone(1, '{"zone":"CET"}', "fc_2") +
  finished(1, call("b", "time", '{"zone":"CET"}', "fc_2")) +
  completed();

const summary = (index: number, delta: string) =>
  event(
    "response.reasoning_summary_text.delta",
    `"output_index":0,"summary_index":${index},"item_id":"rs_1","delta":"${delta}"`,
  );

export const reasoning =
  created +
  added(0, '"id":"rs_1","type":"reasoning","summary":[]') +
  summary(0, "First, ") +
  summary(0, "look.") +
  summary(1, "Then say.") +
  finished(
    0,
    '"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"First, look."},{"type":"summary_text","text":"Then say."}],"encrypted_content":"Z0FBQQ=="',
  ) +
  added(1, '"id":"msg_1","type":"message","role":"assistant","content":[]') +
  textDelta(1, "42") +
  finished(1, message("42")) +
  completed();
