import { once } from "node:events";
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from "ai";
import { expect } from "chai";
import OpenAI from "openai";
import WebSocket from "ws";
import { silentLog } from "../../src/core/ports/log.ts";
import { noTelemetry } from "../../src/core/ports/telemetry.ts";
import { openService, type Service } from "../../src/host/service.ts";
import { allSse, readSse } from "../sse.ts";
import { testFolder } from "./folder.ts";

const config = (drain: string) => `
providers: { demo: { type: simulator, pace: 0 } }
tools:
  clock: { type: clock }
  asked: { type: calculator, approval: always }
agents:
  assistant: { model: demo/small, tools: [clock] }
  asking: { model: demo/small, tools: [asked] }
  slow: { model: demo/pace-250-200 }
  drained: { model: demo/pace-250-8 }
  calling: { model: demo/calls-1 }
journal: { type: memory }
channels: { http: {}, openai: {}, ai-sdk: {}, websocket: {} }
server: { listen: 0 }
limits: { drain: ${drain} }
telemetry: { logs: { level: silent } }
`;

describe("the service from a config file", function () {
  this.timeout(180_000);
  const folder = testFolder();
  let service: Service;
  const open = async (drain = "100ms") => {
    const configFile = folder.write({ "venturi.yaml": config(drain) });
    service = await openService({ configFile, log: silentLog, telemetry: noTelemetry });
    return service.url;
  };
  let drained: Promise<void> | undefined;
  const drain = () => {
    drained ??= service.drain();
    return drained;
  };
  afterEach(async () => {
    await drain();
    drained = undefined;
  });
  const start = (url: string, agent: string, accept = "text/event-stream") =>
    fetch(`${url}/v1/runs`, {
      method: "POST",
      headers: { "content-type": "application/json", accept },
      body: JSON.stringify({ agent, input: "What is 17 * 23?" }),
    });

  it("streams a run over HTTP from the simulator's real wire, and lets it be read again", async () => {
    const url = await open();
    const response = await start(url, "assistant");
    const live = await allSse(response);
    expect(live.map((event) => Number(event.id))).to.deep.equal(live.map((_, index) => index + 1));
    expect(live.at(-1)?.event).to.equal("run.finished");
    const run = response.headers.get("x-venturi-run");
    const again = await allSse(await fetch(`${url}/v1/runs/${run}/events?after=2`));
    expect(again).to.deep.equal(live.slice(2));
  });

  it("leaves the client's tools to OpenAI's client and goes on with their results", async () => {
    const client = new OpenAI({ apiKey: "none", baseURL: `${await open()}/openai/v1` });
    const parameters = { type: "object", properties: { city: { type: "string" } } };
    const runner = client.chat.completions.runTools({
      model: "calling",
      stream: true,
      messages: [{ role: "user", content: "the weather in Oslo" }],
      tools: [
        {
          type: "function",
          function: { name: "weather", description: "weather", parameters, parse: JSON.parse, function: () => "cold" },
        },
      ],
    });
    expect(await runner.finalContent())
      .to.be.a("string")
      .and.not.equal("");
    const tools = [{ type: "function" as const, name: "weather", parameters, strict: false }];
    const first = await client.responses.create({ model: "calling", input: "the weather in Oslo", tools });
    const call = first.output.find((item) => item.type === "function_call");
    const second = await client.responses.create({
      model: "calling",
      previous_response_id: first.id,
      input: [{ type: "function_call_output", call_id: call?.call_id ?? "", output: "cold" }],
      tools,
    });
    expect(second.output_text).to.be.a("string").and.not.equal("");
  });

  it("parks a run for an approval and goes on when useChat answers it", async () => {
    const url = await open();
    const transport = new DefaultChatTransport({ api: `${url}/ai-sdk/asking` });
    const user: UIMessage = { id: "u1", role: "user", parts: [{ type: "text", text: "What is 17 * 23?" }] };
    const send = async (messages: UIMessage[], message?: UIMessage) => {
      const stream = await transport.sendMessages({
        chatId: "c",
        messages,
        trigger: "submit-message",
        messageId: undefined,
        abortSignal: undefined,
      });
      let last: UIMessage | undefined;
      for await (const state of readUIMessageStream({ stream, ...(message ? { message } : {}) })) last = state;
      if (last === undefined) throw new Error("no message");
      return last;
    };
    const asked = await send([user]);
    const parts = asked.parts.map((part) =>
      part.type === "dynamic-tool" && part.state === "approval-requested"
        ? { ...part, state: "approval-responded" as const, approval: { id: part.approval.id, approved: true } }
        : part,
    );
    const answered = { ...asked, parts } as UIMessage;
    const done = await send([user, answered], answered);
    expect(JSON.stringify(done.parts)).to.include("391");
  });

  it("cancels the provider's stream when an OpenAI client goes away", async () => {
    const client = new OpenAI({ apiKey: "none", baseURL: `${await open()}/openai/v1` });
    const stream = await client.chat.completions.create({
      model: "slow",
      stream: true,
      messages: [{ role: "user", content: "go" }],
    });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    while (service.host.active() > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const { runs } = await service.host.runs.list({ agent: "slow" });
    expect(runs.map((row) => row.outcome)).to.deep.equal(["cancelled"]);
  });

  it("drains 60 running streams so that each has its terminal event", async () => {
    const url = await open("200ms");
    const responses = await Promise.all(Array.from({ length: 60 }, () => start(url, "slow")));
    const streams = responses.map(async (response) => {
      let terminal = 0;
      let last: string | undefined;
      for await (const event of readSse(response.body)) {
        last = event.event;
        if (last === "run.finished" || last === "run.failed") terminal++;
      }
      return `${last} ${terminal}`;
    });
    while (service.host.active() < 60) await new Promise((resolve) => setTimeout(resolve, 5));
    void drain();
    expect(new Set(await Promise.all(streams))).to.deep.equal(new Set(["run.failed 1"]));
    await drain();
  });

  it("drains sockets so that each of their runs has its terminal message before they close", async () => {
    const url = await open();
    const endings = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const socket = new WebSocket(`${url.replace("http", "ws")}/ws`);
        const seen: string[] = [];
        socket.on("message", (data) => seen.push((JSON.parse(String(data)) as { type: string }).type));
        await once(socket, "open");
        for (let index = 0; index < 5; index++) socket.send('{"type":"run","agent":"slow","input":"go"}');
        return { seen, closed: once(socket, "close") };
      }),
    );
    while (service.host.active() < 50) await new Promise((resolve) => setTimeout(resolve, 5));
    void drain();
    for (const { seen, closed } of endings) {
      await closed;
      expect(seen.filter((type) => type === "stream_error")).to.have.length(5);
    }
  });

  it("lets runs finish that can while it drains, and refuses new ones", async () => {
    const url = await open("100s");
    const response = await start(url, "drained");
    void drain();
    const refused = await start(url, "assistant");
    expect(refused.status).to.equal(503);
    await refused.text();
    expect((await allSse(response)).at(-1)?.event).to.equal("run.finished");
    await drain();
  });
});
