import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";

// As the attacker: it stands for another machine.
if (workerData === "loud") setPriority(10);

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const call = (name: string, args: string) =>
  chunk({
    role: "assistant",
    tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name, arguments: args } }],
  });
const done = "data: [DONE]\n\n";

/** A vendor of Chat Completions, in its own thread, so that what it reads delays nobody. The model's name says what it does. */
const answers: Readonly<Record<string, (response: ServerResponse, again: boolean) => void>> = {
  hello: (response) => response.end(`${chunk({ content: "Hello there." })}${chunk({}, "stop")}${done}`),
  cut: (response) => {
    response.write(chunk({ content: "Hel" }));
    setTimeout(() => response.destroy(), 5);
  },
  poison: (response) => response.end(`${call("-eyJ".repeat(125_000), "{}")}${chunk({}, "tool_calls")}${done}`),
  ask: (response, again) => asks(response, again, call("pay", '{"amount":1}')),
  fetch: (response, again) => asks(response, again, call("large", "{}")),
};

function asks(response: ServerResponse, again: boolean, asked: string): void {
  if (again) answers.hello?.(response, again);
  else response.end(`${asked}${chunk({}, "tool_calls")}${done}`);
}

const server = createServer((request, response) => {
  let head = "";
  let before: Buffer = Buffer.alloc(0);
  let last: Buffer = Buffer.alloc(0);
  request.on("data", (bytes: Buffer) => {
    if (head.length < 10_000) head += bytes.toString("latin1");
    [before, last] = [last, bytes];
  });
  request.on("end", () => {
    const tail = Buffer.concat([before, last]).toString("latin1").slice(-10_000);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const model = /"model":"(\w+)"/.exec(head + tail)?.[1] ?? "hello";
    (answers[model] ?? answers.hello)?.(response, (head + tail).includes('"role":"tool"'));
  });
});
server.listen(0, "127.0.0.1", () => parentPort?.postMessage((server.address() as AddressInfo).port)); // it listens on TCP
