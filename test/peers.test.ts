import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ChatOpenAI } from "@langchain/openai";
import { isStepCount, streamText, tool } from "ai";
import { expect } from "chai";
import OpenAI from "openai";
import { z } from "zod";
import { isTerminal, type TerminalEvent } from "../src/core/run/events.ts";
import { openHost } from "../src/host/open.ts";
import { testFolder } from "./host/folder.ts";

/** The README compares Venturi with these; what it says of them is said by these tests, for the versions in package.json. */
describe("a provider whose stream stops after a whole event, without its end", () => {
  const folder = testFolder();
  let server: Server;
  let baseURL = "";
  let bodies: string[] = [];
  let requests = 0;

  beforeEach(async () => {
    requests = 0;
    server = createServer((request, response) => {
      request.resume();
      response.writeHead(200, { "content-type": "text/event-stream" }).end(bodies[requests++] ?? whole);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`; // it listens on a port
  });
  afterEach(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  });

  async function venturi(): Promise<TerminalEvent | undefined> {
    const config = `providers: { one: { type: openai, baseUrl: "${baseURL}", apiKey: key } }
models: { main: { chain: [one/model], retry: { max: 0 } } }
tools: { lookup: { type: clock } }
agents: { peer: { model: main, tools: [lookup] } }
journal: { type: memory }
telemetry: { logs: { level: error } }
`;
    const host = await openHost({ configFile: folder.write({ "venturi.yaml": config }) });
    try {
      const { run } = await host.runs.start({ agent: "peer", input: { text: "go" } });
      for await (const batch of host.runs.follow(run)) {
        const last = batch.find(isTerminal);
        if (last) return last;
      }
      return undefined;
    } finally {
      await host.close();
    }
  }

  async function aiSdk(): Promise<{ errors: number; finish: string | undefined }> {
    const provider = createOpenAICompatible({ name: "peer", baseURL, apiKey: "key" });
    const lookup = tool({
      description: "Looks up",
      inputSchema: z.object({ city: z.string() }),
      execute: () => "found",
    });
    const { fullStream } = streamText({
      model: provider("model"),
      prompt: "go",
      maxRetries: 0,
      stopWhen: isStepCount(3),
      tools: { lookup },
      onError: () => {},
    });
    let errors = 0;
    let finish: string | undefined;
    for await (const part of fullStream) {
      if (part.type === "error") errors++;
      if (part.type === "finish") finish = part.finishReason;
    }
    return { errors, finish };
  }

  async function langChain(): Promise<string> {
    const model = new ChatOpenAI({ model: "model", apiKey: "key", maxRetries: 0, configuration: { baseURL } });
    let text = "";
    for await (const chunk of await model.stream("go")) text += chunk.text;
    return text;
  }

  async function openAi(): Promise<string> {
    const client = new OpenAI({ baseURL, apiKey: "key", maxRetries: 0 });
    const messages = [{ role: "user" as const, content: "go" }];
    let text = "";
    for await (const chunk of await client.chat.completions.create({ model: "model", stream: true, messages })) {
      text += chunk.choices[0]?.delta.content ?? "";
    }
    return text;
  }

  it("is a stream_error with the text so far in Venturi, and an error in the AI SDK", async () => {
    bodies = [cutText, cutText];
    const last = await venturi();
    expect(last).to.deep.include({ type: "run.failed", output: "Half an" });
    expect(last?.type === "run.failed" && last.error.code).to.equal("stream_error");
    expect(await aiSdk()).to.deep.equal({ errors: 1, finish: "error" });
  });

  it("is taken for a whole answer by LangChain's model and the openai client's stream", async () => {
    bodies = [cutText, cutText];
    expect(await langChain()).to.equal("Half an");
    expect(await openAi()).to.equal("Half an");
  });

  it("within a tool's arguments ends the run in Venturi, and goes on to another model call and a good end in the AI SDK", async () => {
    bodies = [cutCall];
    const last = await venturi();
    expect(last?.type === "run.failed" && last.error.code).to.equal("stream_error");
    expect(requests).to.equal(1);
    requests = 0;
    expect((await aiSdk()).finish).to.equal("stop");
    expect(requests).to.equal(2);
  });
});

const chunk = (delta: unknown, finish: string | null = null): string => {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "model", choices })}\n\n`;
};
const call = { index: 0, id: "call_1", type: "function", function: { name: "lookup", arguments: '{"city": "Ro' } };
const cutText = chunk({ role: "assistant", content: "Half " }) + chunk({ content: "an" });
const cutCall = chunk({ role: "assistant", tool_calls: [call] });
const whole = `${chunk({ role: "assistant", content: "Done." })}${chunk({}, "stop")}data: [DONE]\n\n`;
