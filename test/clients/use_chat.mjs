// The transport of the AI SDK's useChat: several turns with a file, and a stream that is taken up again.
import assert from "node:assert/strict";
import { DefaultChatTransport, readUIMessageStream } from "ai";

const transport = new DefaultChatTransport({ api: `${process.env.VENTURI_URL}/ai-sdk/${process.env.MODEL}` });
const chatId = `chat-${Math.random()}`;
const messages = [];
const pdf = Buffer.from("%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\n%%EOF").toString("base64");
const files = [
  { type: "file", mediaType: "application/pdf", filename: "a.pdf", url: `data:application/pdf;base64,${pdf}` },
];
for (const parts of [[{ type: "text", text: "hello" }, ...files], [{ type: "text", text: "And now?" }]]) {
  messages.push({ id: `m${messages.length}`, role: "user", parts });
  const stream = await transport.sendMessages({ chatId, messages, trigger: "submit-message", abortSignal: undefined });
  let message;
  for await (message of readUIMessageStream({ stream }));
  assert.equal(message.role, "assistant");
  assert.ok(message.parts.some(({ type, text }) => type === "text" && text !== ""));
  messages.push(message);
}
assert.equal(await transport.reconnectToStream({ chatId }), null, "nothing is under way");
