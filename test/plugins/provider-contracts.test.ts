import anthropic from "../../plugins/anthropic/index.ts";
import bedrock from "../../plugins/bedrock/index.ts";
import gemini from "../../plugins/gemini/index.ts";
import ollama from "../../plugins/ollama/index.ts";
import { providerContract } from "../../src/testing.ts";
import * as aws from "./bedrock/stream.ts";
import { provider } from "./vendor.ts";

const events = (...data: object[]): string =>
  data.map((one) => `event: ${"type" in one ? one.type : ""}\ndata: ${JSON.stringify(one)}\n\n`).join("");
const begin = {
  type: "message_start",
  message: { id: "m", content: [], usage: { input_tokens: 1, output_tokens: 1 } },
};
const stop = (stop_reason: string) => ({ type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 4 } });
const text = (words: string) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: words } });
const json = (piece: string) => ({
  type: "content_block_delta",
  index: 0,
  delta: { type: "input_json_delta", partial_json: piece },
});

providerContract("anthropic", {
  create: ({ baseUrl, key }) => provider(anthropic, { baseUrl, apiKey: key }),
  samples: {
    contentType: "text/event-stream",
    text: {
      body: events(
        begin,
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        text("Guten "),
        text("Tag 🌊"),
        { type: "content_block_stop", index: 0 },
        stop("end_turn"),
        { type: "message_stop" },
      ),
      text: "Guten Tag 🌊",
    },
    toolCall: {
      body: events(
        begin,
        {
          type: "content_block_start",
          index: 0,
          content_block: { type: "tool_use", id: "t", name: "tool", input: {} },
        },
        json(""),
        json('{"a": '),
        json('"ü"}'),
        { type: "content_block_stop", index: 0 },
        stop("tool_use"),
        { type: "message_stop" },
      ),
      name: "tool",
      arguments: { a: "ü" },
    },
    failure: {
      body: events(begin, { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }),
      code: "unavailable",
    },
    whole: {
      body: JSON.stringify({
        type: "message",
        id: "m",
        content: [{ type: "text", text: "Hi" }],
        stop_reason: "end_turn",
      }),
      text: "Hi",
    },
  },
});

const chunks = (...responses: object[]): string =>
  responses.map((response) => `data: ${JSON.stringify(response)}\r\n\r\n`).join("");
const candidate = (part: object, more: object = {}) => ({
  candidates: [{ content: { role: "model", parts: [part] }, index: 0, ...more }],
});

providerContract("gemini", {
  create: ({ baseUrl, key }) => provider(gemini, { baseUrl, apiKey: key }),
  samples: {
    contentType: "text/event-stream",
    text: {
      body: chunks(candidate({ text: "Guten " }), candidate({ text: "Tag 🌊" }, { finishReason: "STOP" })),
      text: "Guten Tag 🌊",
    },
    toolCall: {
      body: chunks(candidate({ functionCall: { name: "tool", args: { a: "ü" } } }, { finishReason: "STOP" })),
      name: "tool",
      arguments: { a: "ü" },
    },
    failure: {
      body: chunks(candidate({ text: "Gu" }), { error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "slow" } }),
      code: "rate_limited",
    },
    whole: { body: JSON.stringify(candidate({ text: "Hi" }, { finishReason: "STOP" })), text: "Hi" },
  },
});

const lines = (...objects: object[]): string => objects.map((object) => `${JSON.stringify(object)}\n`).join("");
const message = (content: string, more: object = {}) => ({
  message: { role: "assistant", content, ...more },
  done: false,
});
const done = { message: { role: "assistant", content: "" }, done: true, done_reason: "stop" };
const call = { function: { name: "tool", arguments: { a: "ü" } } };

providerContract("ollama", {
  create: ({ baseUrl, key }) => provider(ollama, { baseUrl, apiKey: key }),
  samples: {
    contentType: "application/x-ndjson",
    text: { body: lines(message("Guten "), message("Tag 🌊"), done), text: "Guten Tag 🌊" },
    toolCall: { body: lines(message("", { tool_calls: [call] }), done), name: "tool", arguments: { a: "ü" } },
    failure: { body: lines(message("Gu"), { error: "the model crashed" }), code: "llm_error" },
    whole: { body: JSON.stringify({ ...message("Hi"), done: true, done_reason: "stop" }), text: "Hi" },
  },
});

const guten = [aws.begin, aws.delta(0, { text: "Guten " }), aws.delta(0, { text: "Tag 🌊" }), aws.blockStop(0)];
const spoken = Buffer.concat([...guten, aws.stop("end_turn"), aws.figures]);
const samples = {
  contentType: "application/vnd.amazon.eventstream",
  // Only the figures are missing after messageStop.
  text: { body: spoken, text: "Guten Tag 🌊", complete: spoken.length - aws.figures.length },
  toolCall: {
    body: Buffer.concat([
      aws.begin,
      aws.callStart(0, "tooluse_1", "tool"),
      aws.delta(0, { toolUse: { input: '{"a": ' } }),
      aws.delta(0, { toolUse: { input: '"ü"}' } }),
      aws.blockStop(0),
      aws.stop("tool_use"),
      aws.figures,
    ]),
    name: "tool",
    arguments: { a: "ü" },
  },
  failure: {
    body: Buffer.concat([...guten, aws.exception("throttlingException", { message: "Too many requests" })]),
    code: "rate_limited",
  },
  whole: {
    body: JSON.stringify({
      output: { message: { role: "assistant", content: [{ text: "Hi" }] } },
      stopReason: "end_turn",
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    }),
    text: "Hi",
  },
};

providerContract("bedrock with an API key", {
  create: ({ baseUrl, key }) => provider(bedrock, { baseUrl, apiKey: key }),
  samples,
});

providerContract("bedrock with a signature", {
  create: ({ baseUrl, key }) =>
    provider(bedrock, {
      baseUrl,
      credentials: { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "never sent", sessionToken: key },
    }),
  samples,
});
