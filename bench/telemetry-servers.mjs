// The other side of bench/telemetry.mjs, in its own process so that its work is not counted: a model that answers with
// bytes made beforehand, and a collector that takes everything.
import { createServer } from "node:http";

const chunks = Number(process.argv[2]);
const perWrite = Number(process.argv[3]);

const frame = (delta, finish = null) =>
  `data: ${JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "small",
    choices: [{ index: 0, delta, finish_reason: finish }],
  })}\n\n`;

const frames = Array.from({ length: chunks }, (_, index) => frame({ content: ` token${index}` }));
const writes = [];
for (let at = 0; at < frames.length; at += perWrite) writes.push(Buffer.from(frames.slice(at, at + perWrite).join("")));
const usage = { prompt_tokens: 10, completion_tokens: chunks, total_tokens: chunks + 10 };
writes.push(Buffer.from(`${frame({}, "stop")}data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`));

let received = 0;
const model = createServer((request, response) => {
  request.resume().on("end", async () => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const write of writes) {
      if (!response.write(write)) await new Promise((resolve) => response.once("drain", resolve));
      await new Promise(setImmediate);
    }
    response.end();
  });
});
const collector = createServer((request, response) => {
  request
    .on("data", (data) => {
      received += data.length;
    })
    .on("end", () => response.writeHead(200, { "content-type": "application/x-protobuf" }).end());
});

model.listen(0, "127.0.0.1", () => {
  collector.listen(0, "127.0.0.1", () => {
    process.send({ model: model.address().port, collector: collector.address().port });
  });
});
process.on("message", () => process.send({ received }));
process.on("disconnect", () => process.exit());
