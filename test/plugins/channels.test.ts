import { HttpAgent } from "@ag-ui/client";
import Anthropic from "@anthropic-ai/sdk";
import { DefaultChatTransport, type UIMessageChunk } from "ai";
import OpenAI from "openai";
import WebSocket from "ws";
import channelAgUi from "../../plugins/channel-ag-ui/index.ts";
import channelAiSdk from "../../plugins/channel-ai-sdk/index.ts";
import channelAnthropic from "../../plugins/channel-anthropic/index.ts";
import channelHttp from "../../plugins/channel-http/index.ts";
import channelOpenai from "../../plugins/channel-openai/index.ts";
import channelWebsocket from "../../plugins/channel-websocket/index.ts";
import { type ChannelAnswer, type ChannelCase, channelContract } from "../../src/testing/channel.ts";
import { readSse } from "../sse.ts";

type Watch = Parameters<ChannelCase["ask"]>[2];

/** Gathers what comes, and turns what is thrown into what was told. */
async function told(
  watch: Watch,
  read: (say: (text: string) => void) => Promise<string | undefined>,
): Promise<ChannelAnswer> {
  let text = "";
  const say = (piece: string) => {
    if (piece === "") return;
    text += piece;
    watch.onText(piece);
  };
  try {
    const error = await read(say);
    return error === undefined ? { text } : { text, error };
  } catch (thrown) {
    return { text, error: String(thrown) };
  }
}

channelContract("channel-http", {
  plugin: channelHttp,
  ask: (url, agent, watch) =>
    told(watch, async (say) => {
      const response = await fetch(`${url}/v1/runs`, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "text/event-stream" },
        body: JSON.stringify({ agent, input: "hello" }),
        signal: watch.signal,
      });
      if (!response.ok) return await response.text();
      for await (const { event, data } of readSse(response.body)) {
        const body = JSON.parse(data) as { text: string; error: { err: string } };
        if (event === "text.delta") say(body.text);
        if (event === "run.failed") return body.error.err;
      }
      return undefined;
    }),
});

channelContract("channel-openai", {
  plugin: channelOpenai,
  ask: (url, model, watch) =>
    told(watch, async (say) => {
      const client = new OpenAI({ apiKey: "none", baseURL: `${url}/openai/v1`, maxRetries: 0 });
      const messages = [{ role: "user" as const, content: "hello" }];
      const stream = await client.chat.completions.create({ model, messages, stream: true }, { signal: watch.signal });
      for await (const chunk of stream) say(chunk.choices[0]?.delta.content ?? "");
      return undefined;
    }),
});

channelContract("channel-openai, responses", {
  plugin: channelOpenai,
  ask: (url, model, watch) =>
    told(watch, async (say) => {
      const client = new OpenAI({ apiKey: "none", baseURL: `${url}/openai/v1`, maxRetries: 0 });
      const stream = await client.responses.create({ model, input: "hello", stream: true }, { signal: watch.signal });
      for await (const event of stream) {
        if (event.type === "response.output_text.delta") say(event.delta);
        if (event.type === "response.failed") return event.response.error?.message;
      }
      return undefined;
    }),
});

channelContract("channel-anthropic", {
  plugin: channelAnthropic,
  ask: (url, model, watch) =>
    told(watch, async (say) => {
      const client = new Anthropic({ apiKey: "none", baseURL: `${url}/anthropic`, maxRetries: 0 });
      const messages = [{ role: "user" as const, content: "hello" }];
      const stream = await client.messages.create(
        { model, max_tokens: 100, messages, stream: true },
        { signal: watch.signal },
      );
      for await (const event of stream) {
        if (event.type === "content_block_delta" && event.delta.type === "text_delta") say(event.delta.text);
      }
      return undefined;
    }),
});

channelContract("channel-ai-sdk", {
  plugin: channelAiSdk,
  ask: (url, agent, watch) =>
    told(watch, async (say) => {
      const stream = await new DefaultChatTransport({ api: `${url}/ai-sdk/${agent}` }).sendMessages({
        chatId: crypto.randomUUID(),
        messages: [{ id: "u", role: "user", parts: [{ type: "text", text: "hello" }] }],
        trigger: "submit-message",
        messageId: undefined,
        abortSignal: watch.signal,
      });
      for await (const chunk of stream as unknown as AsyncIterable<UIMessageChunk>) {
        if (chunk.type === "text-delta") say(chunk.delta);
        if (chunk.type === "error") return chunk.errorText;
      }
      return undefined;
    }),
});

channelContract("channel-ag-ui", {
  plugin: channelAgUi,
  ask: (url, agent, watch) =>
    told(watch, async (say) => {
      let error: string | undefined;
      const client = new HttpAgent({ url: `${url}/ag-ui/${agent}` });
      client.addMessage({ id: "u", role: "user", content: "hello" });
      watch.signal.addEventListener("abort", () => client.abortRun());
      await client
        .runAgent(
          {},
          {
            onTextMessageContentEvent: ({ event }) => say(event.delta),
            onRunErrorEvent: ({ event }) => {
              error = event.message;
            },
            onRunFailed: ({ error: thrown }) => {
              error ??= String(thrown);
              return { stopPropagation: true } as object; // or the client prints it; its type leaves the field out
            },
          },
        )
        .catch((thrown: unknown) => {
          error ??= String(thrown);
        });
      return error;
    }),
});

channelContract("channel-websocket", {
  plugin: channelWebsocket,
  ask: (url, agent, watch) =>
    told(
      watch,
      (say) =>
        new Promise((resolve) => {
          const socket = new WebSocket(`${url.replace("http", "ws")}/ws`);
          watch.signal.addEventListener("abort", () => socket.terminate());
          socket.on("open", () => socket.send(JSON.stringify({ type: "run", agent, input: "hello" })));
          socket.on("close", () => resolve("closed"));
          socket.on("message", (data) => {
            const message = JSON.parse(String(data)) as { type: string; delta: string; error: { err: string } };
            if (message.type === "stream_chunk") say(message.delta);
            if (message.type === "stream_end") resolve(undefined);
            if (message.type === "stream_error") resolve(message.error.err);
            if (/^stream_(end|error)$/.test(message.type)) socket.close();
          });
        }),
    ),
});
