// The model server of bench/scale.mjs: bytes made beforehand on bare sockets, so that it costs little beside what is measured.
// Chat Completions, one HTTP chunk an event: a tool call first, then as many words as the model's name says (tool-N).
import { createServer } from "node:net";

const prepared = new Map();
const end = Buffer.from("\r\n\r\n");

const server = createServer({ noDelay: true }, (socket) => {
  let held = Buffer.alloc(0);
  socket.on("error", () => {}); // a service that was stopped
  socket.on("data", (bytes) => {
    held = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
    for (;;) {
      const head = held.indexOf(end);
      if (head < 0) return;
      const [, length] = /content-length: (\d+)/i.exec(held.latin1Slice(0, head)) ?? [];
      const size = head + 4 + Number(length);
      if (held.length < size) return;
      const body = held.latin1Slice(head + 4, size);
      held = held.subarray(size);
      const [, words] = /"model":"tool-(\d+)"/.exec(body) ?? [];
      socket.write(answer(Number(words), body.includes('"role":"tool"')));
    }
  });
});
server.listen(0, "127.0.0.1", 4096, () => process.send(server.address().port));
process.on("disconnect", () => process.exit());

function answer(words, called) {
  const key = called ? words : 0;
  if (!prepared.has(key)) prepared.set(key, Buffer.from(whole(key === 0 ? call() : text(words))));
  return prepared.get(key);
}

const text = (words) => [
  chunk({ role: "assistant", content: "" }),
  ...Array.from({ length: words }, (_, n) => chunk({ content: ` word${n % 97}` })),
  ...last("stop"),
];

function call() {
  const part = (rest) => chunk({ tool_calls: [{ index: 0, ...rest }] });
  return [
    chunk({ role: "assistant", content: "" }),
    part({ id: "call_0123456789abcdef", type: "function", function: { name: "lookup", arguments: "" } }),
    ...['{"city":"Paris",', '"unit":"celsius"', ',"days":3}'].map((piece) => part({ function: { arguments: piece } })),
    ...last("tool_calls"),
  ];
}

const last = (finish) => [
  chunk({}, finish),
  'data: {"id":"chatcmpl-1","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":9}}\n\n',
  "data: [DONE]\n\n",
];

function chunk(delta, finish = null) {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
  const body = {
    id: "chatcmpl-0123456789abcdefghij",
    object: "chat.completion.chunk",
    created: 1790000000,
    model: "m",
  };
  return `data: ${JSON.stringify({ ...body, system_fingerprint: "fp_0123456789", choices, usage: null })}\n\n`;
}

const whole = (events) =>
  `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n${events
    .map((event) => `${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`)
    .join("")}0\r\n\r\n`;
