import { HttpAgent } from "@ag-ui/client";
import { expect } from "chai";
import { type Bridge, bridge } from "../../bridge.ts";

const pdf = Buffer.from("%PDF-1.4 a small one").toString("base64");
const png = "iVBORw0KGgo=";

describe("what an AG-UI client sends", () => {
  let between: Bridge;
  before(async () => {
    between = await bridge("openai");
  });
  after(() => between.close());

  it("reaches the model with its files, also those in a tool's result", async () => {
    const client = new HttpAgent({ url: `${between.url}/ag-ui/m`, threadId: "t1" });
    client.addMessages([
      {
        id: "u1",
        role: "user",
        content: [
          { type: "text", text: "read" },
          { type: "document", source: { type: "data", value: pdf, mimeType: "application/pdf" } },
          { type: "image", source: { type: "url", value: "https://example.com/a.png" } },
        ],
      },
      {
        id: "a1",
        role: "assistant",
        content: "Let me look.",
        toolCalls: [{ id: "c1", type: "function", function: { name: "view", arguments: '{"cut":' } }],
      },
      {
        id: "r1",
        role: "tool",
        toolCallId: "c1",
        content: [
          { type: "text", text: "seen" },
          { type: "image", source: { type: "data", value: png, mimeType: "image/png" } },
        ],
      },
    ]);
    const { newMessages } = await client.runAgent();
    expect(newMessages.at(-1)?.role).to.equal("assistant");
    const sent = JSON.stringify(between.bodies().at(-1));
    for (const piece of [pdf, png, "https://example.com/a.png", "seen", '{\\"cut\\":']) expect(sent).to.include(piece);
  });

  it("that cannot reach any model is named in the answer", async () => {
    const ask = (more: object) =>
      fetch(`${between.url}/ag-ui/m`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          threadId: "t",
          runId: "r",
          tools: [],
          context: [],
          state: {},
          forwardedProps: {},
          ...more,
        }),
      });
    const plain = await ask({ messages: [{ id: "1", role: "user", content: "hi" }] });
    expect(plain.headers.get("venturi-warnings")).to.equal(null);
    const rich = await ask({
      state: { open: true },
      forwardedProps: { theme: "dark" },
      messages: [
        { id: "0", role: "reasoning", content: "hm" },
        {
          id: "1",
          role: "user",
          name: "Ada",
          content: [
            { type: "text", text: "hi" },
            { type: "document", source: { type: "file", value: "file_17", provider: "openai" } },
          ],
        },
        { id: "2", role: "activity", activityType: "x", content: {} },
      ],
    });
    expect(rich.headers.get("venturi-warnings")?.split(", ").sort()).to.deep.equal([
      "forwardedProps",
      "messages.content.source.file",
      "messages.name",
      "messages.reasoning",
      "state",
    ]);
    await Promise.all([plain.text(), rich.text()]);
    const page = await fetch(`${between.url}/ai-sdk/m`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        id: "c",
        temperature: 1,
        messages: [{ role: "user", parts: [{ type: "text", text: "hi" }] }],
      }),
    });
    expect(page.headers.get("venturi-warnings"), "the AI SDK's channel, too").to.equal("temperature");
    await page.text();
  });
});
