import { expect } from "chai";
import type { WireName } from "../../plugins/simulator/wire.ts";
import { type Bridge, bridge } from "../bridge.ts";

const pdf = Buffer.from("%PDF-1.4 a small one").toString("base64");
const wav = Buffer.from("RIFF....WAVEfmt ").toString("base64");
const png = "iVBORw0KGgo=";
const note = Buffer.from("remember the milk").toString("base64");

const agUi = { threadId: "t", runId: "r", tools: [], context: [], state: {}, forwardedProps: {} };

/** What each channel sends for the same four things: a PDF, a sound, a picture and a text file. */
const channels: Record<string, (bridge: Bridge) => Promise<Response>> = {
  chat: ({ url }) =>
    post(`${url}/openai/v1/chat/completions`, {
      model: "m",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "look" },
            { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${pdf}` } },
            { type: "input_audio", input_audio: { data: wav, format: "wav" } },
            { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } },
            { type: "file", file: { filename: "note.md", file_data: `data:text/markdown;base64,${note}` } },
          ],
        },
      ],
    }),
  responses: ({ url }) =>
    post(`${url}/openai/v1/responses`, {
      model: "m",
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: "look" },
            { type: "input_file", filename: "a.pdf", file_data: `data:application/pdf;base64,${pdf}` },
            { type: "input_audio", input_audio: { data: wav, format: "wav" } },
            { type: "input_image", image_url: `data:image/png;base64,${png}` },
            { type: "input_file", filename: "note.md", file_data: `data:text/markdown;base64,${note}` },
          ],
        },
      ],
    }),
  "ai-sdk": ({ url }) =>
    post(`${url}/ai-sdk/m`, {
      id: "c",
      messages: [
        {
          role: "user",
          parts: [
            { type: "text", text: "look" },
            {
              type: "file",
              mediaType: "application/pdf",
              filename: "a.pdf",
              url: `data:application/pdf;base64,${pdf}`,
            },
            { type: "file", mediaType: "audio/wav", url: `data:audio/wav;base64,${wav}` },
            { type: "file", mediaType: "image/png", url: `data:image/png;base64,${png}` },
            {
              type: "file",
              mediaType: "text/markdown",
              filename: "note.md",
              url: "data:text/markdown,remember%20the%20milk",
            },
          ],
        },
      ],
    }),
  "ag-ui": ({ url }) =>
    post(`${url}/ag-ui/m`, {
      ...agUi,
      messages: [
        {
          id: "1",
          role: "user",
          content: [
            { type: "text", text: "look" },
            { type: "document", source: { type: "data", value: pdf, mimeType: "application/pdf" } },
            { type: "audio", source: { type: "data", value: wav, mimeType: "audio/wav" } },
            { type: "image", source: { type: "data", value: png } },
            {
              type: "document",
              source: { type: "data", value: note, mimeType: "text/markdown" },
              metadata: { filename: "note.md" },
            },
          ],
        },
      ],
    }),
  "ag-ui before 1.0": ({ url }) =>
    post(`${url}/ag-ui/m`, {
      ...agUi,
      messages: [
        {
          id: "1",
          role: "user",
          content: [
            { type: "text", text: "look" },
            { type: "binary", mimeType: "application/pdf", data: pdf, filename: "a.pdf" },
            { type: "binary", mimeType: "audio/wav", data: wav },
            { type: "binary", mimeType: "image/png", url: `data:image/png;base64,${png}` },
            { type: "binary", mimeType: "text/markdown", data: note, filename: "note.md" },
          ],
        },
      ],
    }),
  http: ({ url }) =>
    post(`${url}/v1/runs`, {
      agent: "m",
      input: {
        messages: [
          {
            role: "user",
            parts: [
              { type: "text", text: "look" },
              { type: "file", mediaType: "application/pdf", data: pdf, name: "a.pdf" },
              { type: "file", mediaType: "audio/wav", data: wav },
              { type: "image", mediaType: "image/png", data: png },
              { type: "file", mediaType: "text/markdown", data: note, name: "note.md" },
            ],
          },
        ],
      },
    }),
};

/** What of each must be in the vendor's request. Anthropic and Ollama have no audio. */
const wanted: Partial<Record<WireName, readonly string[]>> = {
  openai: [pdf, wav, png, "remember the milk"],
  "openai-responses": [pdf, wav, png, note],
  gemini: [pdf, wav, png, note],
};

describe("attachments", () => {
  for (const [wire, pieces] of Object.entries(wanted) as [WireName, readonly string[]][]) {
    describe(`to ${wire}`, () => {
      let between: Bridge;
      before(async () => {
        between = await bridge(wire);
      });
      after(() => between.close());

      for (const [name, send] of Object.entries(channels)) {
        it(`from ${name} arrive whole`, async () => {
          const before = between.bodies().length;
          const response = await send(between);
          expect(response.status, await response.text()).to.be.oneOf([200, 201]);
          const sent = JSON.stringify(between.bodies()[before]);
          // A client of the vendor's own wire is taken at its word: its text file stays a file.
          const own = wire === "openai" && name === "chat" ? [pdf, wav, png, note] : pieces;
          for (const piece of own) expect(sent).to.include(piece);
        });
      }
    });
  }

  describe("to a provider that does not take them", () => {
    let between: Bridge;
    before(async () => {
      between = await bridge("anthropic");
    });
    after(() => between.close());

    for (const [name, send] of Object.entries(channels)) {
      it(`from ${name} are refused before anything is sent, with what it takes`, async () => {
        const response = await send(between);
        expect(await response.text()).to.include("takes no audio/wav files (only application/pdf and text)");
        expect(response.status).to.equal(422);
        expect(between.bodies()).to.have.length(0);
      });
    }

    it("say so when their address is no web address", async () => {
      const parts = [{ type: "file", mediaType: "application/pdf", url: "file:///tmp/decoy" }];
      const response = await post(`${between.url}/ai-sdk/m`, { id: "x", messages: [{ role: "user", parts }] });
      expect(response.status).to.equal(400);
    });
  });

  it("from Anthropic's clients arrive as the documents they were", async () => {
    const between = await bridge("anthropic");
    try {
      const documents = [
        { type: "document", source: { type: "base64", media_type: "application/pdf", data: pdf }, title: "a.pdf" },
        { type: "document", source: { type: "text", media_type: "text/plain", data: "remember the milk" } },
        { type: "document", source: { type: "url", url: "https://example.com/b.pdf" } },
      ];
      const messages = [{ role: "user", content: [{ type: "text", text: "look" }, ...documents] }];
      const response = await post(`${between.url}/anthropic/v1/messages`, { model: "m", max_tokens: 9, messages });
      expect(response.status, await response.clone().text()).to.equal(200);
      const sent = between.bodies()[0]?.messages as { content: { type: string }[] }[];
      expect(
        sent[0]?.content.slice(1).map(({ type, ...rest }) => ({ type, ...rest, cache_control: undefined })),
      ).to.deep.equal(documents.map((document) => ({ ...document, cache_control: undefined })));
    } finally {
      await between.close();
    }
  });

  it("in a tool's result stay with it: a picture and a document from each of the clients' wires", async () => {
    for (const wire of ["openai", "openai-responses", "anthropic", "gemini"] as const) {
      const between = await bridge(wire);
      try {
        const call = { type: "function_call", call_id: "c1", name: "view", arguments: "{}" };
        const output = [
          { type: "input_text", text: "seen" },
          { type: "input_image", image_url: `data:image/png;base64,${png}` },
          { type: "input_file", filename: "a.pdf", file_data: `data:application/pdf;base64,${pdf}` },
        ];
        const input = [
          { role: "user", content: "look" },
          call,
          { type: "function_call_output", call_id: "c1", output },
        ];
        const tools = [{ type: "function", name: "view", parameters: { type: "object", properties: {} } }];
        const response = await post(`${between.url}/openai/v1/responses`, { model: "m", input, tools });
        expect(response.status, await response.text()).to.equal(200);
        const sent = JSON.stringify(between.bodies()[0]);
        for (const piece of [png, pdf, "seen"]) expect(sent, wire).to.include(piece);
      } finally {
        await between.close();
      }
    }
  });
});

const post = (url: string, body: unknown): Promise<Response> =>
  fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
