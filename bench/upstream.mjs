// A model server in its own process: Chat Completions, bytes made beforehand, one HTTP chunk an event.
// The model's name says what is sent: text-N, tool-N (a call, then N chunks), arguments-BYTES, paced-MS-N, turn-MS-N (a call, then
// N chunks, all paced). A request that does not ask for a stream gets the same answer whole, after the same time.
import { createServer } from "node:http";

const now = () => Number(process.hrtime.bigint() / 1000n);
const lookup = '{"city":"Paris","unit":"celsius","days":3}';
const prepared = new Map();
const paced = new Set();

const server = createServer((request, response) => {
  const pieces = [];
  request.on("data", (piece) => pieces.push(piece));
  request.on("end", () => {
    const body = Buffer.concat(pieces).toString();
    const [, model] = /"model":\s*"([^"]+)"/.exec(body) ?? [];
    if (model === undefined) return response.writeHead(400).end();
    const answered = /"role":\s*"tool"/.test(body);
    const [kind, size, count] = model.split("-");
    if (kind === "turn" && !/"stream":\s*true/.test(body))
      return whole(response, Number(size), answered ? Number(count) : 0);
    response.writeHead(200, { "content-type": "text/event-stream", "transfer-encoding": "chunked" });
    response.flushHeaders();
    if (kind === "paced") return pace(response, Number(size), texts(Number(count)), "stop", true);
    if (kind === "turn") {
      if (answered) return pace(response, Number(size), texts(Number(count)), "stop");
      return pace(response, Number(size), eventsOf("tool", 0, false).slice(0, -3), "tool_calls");
    }
    const key = `${model} ${answered}`;
    if (!prepared.has(key)) prepared.set(key, chunked(eventsOf(kind, Number(size), answered)));
    response.socket.cork();
    response.socket.write(prepared.get(key));
    response.end();
    response.socket.uncork();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", 4096, () => process.send(server.address().port));
process.on("disconnect", () => process.exit());

function eventsOf(kind, size, answered) {
  if (kind === "text" || answered)
    return [...texts(kind === "text" ? size : kind === "tool" ? size : 2), ...end("stop")];
  const call = (rest) => chunk({ tool_calls: [{ index: 0, ...rest }] });
  const text = kind === "tool" ? lookup : argumentsOf(size);
  const fragments = [];
  for (let at = 0; at < text.length; at += 16) {
    fragments.push(call({ function: { arguments: text.slice(at, at + 16) } }));
  }
  const first = call({ id: "call_0123456789abcdef", type: "function", function: { name: "lookup", arguments: "" } });
  return [chunk({ role: "assistant", content: "" }), first, ...fragments, ...end("tool_calls")];
}

const texts = (count) => [
  chunk({ role: "assistant", content: "" }),
  ...Array.from({ length: count }, (_, i) => chunk({ content: ` word${i % 97}` })),
];
const end = (finish) => [
  chunk({}, finish),
  'data: {"id":"chatcmpl-1","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":9}}\n\n',
  "data: [DONE]\n\n",
];

function argumentsOf(size) {
  const rows = Array.from({ length: Math.floor(size / 40) }, (_, i) => ({ id: i, note: `row "${i}" of many` }));
  return JSON.stringify({ city: "Paris", rows });
}

const chunk = (delta, finish = null) =>
  `data: ${JSON.stringify({ id: "chatcmpl-0123456789abcdefghij", object: "chat.completion.chunk", created: 1790000000, model: "m", system_fingerprint: "fp_0123456789", choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }], usage: null })}\n\n`;

const chunked = (events) =>
  Buffer.from(events.map((event) => `${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`).join(""));

/** Every text of `paced` is the time at which it was sent, so that whoever reads it knows how long it was under way. */
function pace(response, ms, [first, ...events], finish, stamped) {
  response.socket.setNoDelay(true);
  const stream = { events, at: 0, next: performance.now() + Math.random() * ms, ms, response, finish, stamped };
  // At once: the first token.
  response.write(stamped ? chunk({ role: "assistant", content: "R " }) : first);
  paced.add(stream);
  response.once("close", () => paced.delete(stream));
}
setInterval(() => {
  const time = performance.now();
  for (const stream of paced) {
    if (stream.next > time) continue;
    stream.next += stream.ms;
    const event = stream.events[stream.at++];
    if (event !== undefined) stream.response.write(stream.stamped ? chunk({ content: `T${now()} ` }) : event);
    else {
      paced.delete(stream);
      stream.response.end(end(stream.finish).join(""));
    }
  }
}, 1);

function whole(response, ms, count) {
  const call = { id: "call_0123456789abcdef", type: "function", function: { name: "lookup", arguments: lookup } };
  const content = Array.from({ length: count }, (_, i) => ` word${i % 97}`).join("");
  const message = count === 0 ? { content: null, tool_calls: [call] } : { content };
  const choice = {
    index: 0,
    message: { role: "assistant", ...message },
    finish_reason: count === 0 ? "tool_calls" : "stop",
  };
  const body = { id: "chatcmpl-1", object: "chat.completion", created: 1790000000, model: "m", choices: [choice] };
  setTimeout(
    () => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ ...body, usage: { prompt_tokens: 9, completion_tokens: 9 } }));
    },
    ms * (count || 5),
  );
}
