import { once } from "node:events";
import { HttpAgent } from "@ag-ui/client";
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from "ai";
import { expect } from "chai";
import WebSocket from "ws";
import type { askPerson } from "../../src/cli/approve.ts";
import { TextPrinter } from "../../src/cli/printer.ts";
import { watchRun } from "../../src/cli/watch-run.ts";
import { silentLog } from "../../src/core/ports/log.ts";
import { noTelemetry } from "../../src/core/ports/telemetry.ts";
import { openService, type Service } from "../../src/host/service.ts";
import { readSse } from "../sse.ts";
import { testFolder } from "./folder.ts";

/** A boss calls a clerk, the clerk calls a cashier, the cashier's calculator needs a person's word. */
const config = (timeout: string) => `
providers:
  demo:
    type: simulator
    pace: 0
    scenarios:
      - name: boss
        match: { text: "^the books" }
        turns: [{ calls: [{ name: clerk, arguments: { task: add it up } }] }, { text: the boss is content }]
      - name: clerk
        match: { text: "^add it up" }
        turns: [{ text: "let me see ", calls: [{ name: cashier, arguments: { task: count the money } }] }, { text: 391 it is }]
      - name: cashier
        match: { text: "^count the money" }
        turns: [{ calls: [{ name: sum, arguments: { expression: "17 * 23" } }] }, { text: it is 391 }]
tools:
  sum: { type: calculator, approval: always }
  cashier: { type: agent, agent: cashier, timeout: ${timeout} }
  clerk: { type: agent, agent: clerk, timeout: ${timeout} }
agents:
  boss: { model: demo/small, tools: [clerk] }
  clerk: { model: demo/small, tools: [cashier] }
  cashier: { model: demo/small, tools: [sum] }
channels: { http: {}, websocket: {}, ai-sdk: {}, ag-ui: {} }
server: { listen: 0 }
limits: { drain: 100ms }
telemetry: { logs: { level: silent } }
`;

interface Approval {
  readonly run: string;
  readonly agent: string;
  readonly call: string;
  readonly name: string;
  readonly arguments: unknown;
  readonly since: number;
  readonly until: number;
}

describe("an approval inside a called agent", function () {
  this.timeout(180_000);
  const folder = testFolder();
  let service: Service;
  let url = "";
  const open = async (timeout: string): Promise<void> => {
    const configFile = folder.write({ "venturi.yaml": config(timeout) });
    service = await openService({ configFile, log: silentLog, telemetry: noTelemetry });
    url = service.url;
  };
  beforeEach(() => open("1h"));
  afterEach(() => service.drain());

  const json = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(url + path, init);
    return { status: response.status, body: (await response.json()) as Record<string, never> };
  };
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    json(path, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json", ...headers },
    });
  const started = async (): Promise<string> => {
    const { body } = await post("/v1/runs", { agent: "boss", input: "the books" }, { prefer: "respond-async" });
    return String(body.run);
  };
  const asked = async (run: string): Promise<void> => {
    for await (const batch of service.host.runs.follow(run))
      if (batch.some(({ type }) => type === "approval.requested")) return;
  };
  const ended = async (run: string): Promise<Record<string, unknown>> => {
    for await (const _batch of service.host.runs.follow(run));
    return (await json(`/v1/runs/${run}`)).body;
  };

  it("makes all three runs wait, is listed once, and is answered at the first run; the wait does not count against tool timeouts", async () => {
    await service.drain();
    await open("3s"); // a busy machine needs some of them to come to the question
    const run = await started();
    await asked(run);
    await new Promise((resolve) => setTimeout(resolve, 3_100));
    const parked = async () => (await json("/v1/runs?status=waiting")).body.runs as unknown as unknown[];
    while ((await parked()).length < 3) await new Promise((resolve) => setTimeout(resolve, 20));
    const { body } = await json(`/v1/runs/${run}`);
    expect(body).to.include({ status: "waiting" });
    const [question] = body.pending as unknown as (Approval & { origin: { agent: string } })[];
    expect(question).to.deep.include({ name: "sum", arguments: { expression: "17 * 23" } });
    expect(question?.origin.agent).to.equal("cashier");
    expect(question?.until).to.be.greaterThan(question?.since ?? Number.NaN);
    const waiting = (await json("/v1/runs?status=waiting")).body.runs as unknown as { agent: string; status: string }[];
    expect(waiting.map(({ agent }) => agent).sort()).to.deep.equal(["boss", "cashier", "clerk"]);
    expect((await json("/v1/runs?status=running")).body.runs).to.deep.equal([]);
    const approvals = (await json("/v1/approvals")).body.approvals as unknown as Approval[];
    expect(approvals.map(({ agent, name }) => [agent, name])).to.deep.equal([["cashier", "sum"]]);
    expect((await post(`/v1/runs/${run}/approvals/nope`, { approved: true })).status).to.equal(404);
    const answered = await post(`/v1/runs/${run}/approvals/${question?.call}`, { approved: true });
    expect(answered.status).to.equal(202);
    const end = await ended(run);
    expect(end).to.include({ status: "finished", output: "the boss is content" });
    expect(end.timing).to.have.property("approval").greaterThan(1_000);
    const spent = end.spent as { by: string; name: string; usage: { inputTokens: number } }[];
    expect(spent.map(({ by, name }) => `${by} ${name}`)).to.deep.equal(["generation demo/small", "tool clerk"]);
    const again = await post(`/v1/runs/${run}/approvals/${question?.call}`, { approved: true });
    expect([again.status, again.body.error]).to.have.nested.property("0", 409);
    expect((await json("/v1/approvals")).body.approvals).to.deep.equal([]);
  });

  it("answered at all three runs at the same time it has one answer, which all of them tell", async () => {
    const verdicts = [true, false, true];
    for (let round = 0; round < 3; round++) {
      const run = await started();
      const waiting = async () =>
        ((await json("/v1/runs?status=waiting")).body.runs as unknown as { run: string }[]).map((each) => each.run);
      while ((await waiting()).length < 3) await new Promise((resolve) => setTimeout(resolve, 20));
      const runs = await waiting();
      const calls = await Promise.all(runs.map(async (each) => (await service.host.runs.pending(each))[0]?.call));
      const answers = await Promise.all(
        runs.map((each, index) =>
          post(`/v1/runs/${each}/approvals/${calls[index]}`, {
            approved: verdicts[(index + round) % 3],
            reason: `of ${each}`,
          }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([202, 409, 409]);
      const counted = runs[answers.findIndex(({ status }) => status === 202)];
      await ended(run);
      for (const each of runs) {
        const { events } = await service.host.runs.events(each);
        const resolved = events.filter((event) => event.type === "approval.resolved");
        expect(resolved.map(({ reason }) => reason)).to.deep.equal([`of ${counted}`]);
      }
    }
  });

  it("answered where it was asked, it is settled at the callers too, which are parked by then", async () => {
    const run = await started();
    await asked(run);
    for (let state = ""; state !== "waiting"; ) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      state = (await service.host.runs.get(run)).state;
    }
    const [approval] = (await json("/v1/approvals")).body.approvals as unknown as Approval[];
    await post(`/v1/runs/${approval?.run}/approvals/${approval?.call}`, { approved: false, reason: "no cash" });
    await ended(run);
    const types: string[] = [];
    for await (const batch of service.host.runs.follow(run)) for (const event of batch) types.push(event.type);
    expect(types.filter((type) => type === "approval.resolved")).to.have.length(1);
  });

  it("is on the parent's event stream, with the children's progress", async () => {
    const response = await fetch(`${url}/v1/runs`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/event-stream" },
      body: JSON.stringify({ agent: "boss", input: "the books" }),
    });
    let output = "";
    for await (const { event, data } of readSse(response.body ?? expect.fail())) {
      const body = JSON.parse(data);
      if (event === "tool.output") output += body.text;
      if (event === "approval.requested") await post(`/v1/runs/${body.run}/approvals/${body.call}`, { approved: true });
    }
    expect(output).to.contain("let me see").and.contain("→ sum").and.contain("it is 391");
  });

  it("is asked at the terminal, which shows the children's progress line by line", async () => {
    const words: string[] = [];
    const printer = new TextPrinter({
      out: () => {},
      words: (...parts) => words.push(parts.join("")),
      color: false,
      beside: "live",
    });
    const questions: string[] = [];
    const approve: typeof askPerson = async (event) => {
      questions.push(`${event.name} of ${event.origin?.agent}`);
      return { approved: true };
    };
    const last = await watchRun(
      { runs: service.host.runs, printer, approve },
      { agent: "boss", input: { text: "the books" } },
    );
    expect(questions).to.deep.equal(["sum of cashier"]);
    expect(last.type).to.equal("run.finished");
    expect(words.join("")).to.contain("→ sum").and.contain("let me see");
  });

  it("is asked on the WebSocket", async () => {
    const socket = new WebSocket(`${url.replace("http", "ws")}/ws`);
    await once(socket, "open");
    socket.send(JSON.stringify({ type: "run", agent: "boss", input: "the books" }));
    const seen: string[] = [];
    for await (const [data] of on(socket)) {
      const message = JSON.parse(String(data));
      seen.push(message.type);
      if (message.type === "approval_request") {
        const { origin, run, call, since } = message;
        expect(origin.agent).to.equal("cashier");
        const answer = { type: "approve", run, call };
        // Of an earlier question, which a crash had asked again.
        socket.send(JSON.stringify({ ...answer, approved: false, since: since - 1, id: "late" }));
        socket.send(JSON.stringify({ ...answer, approved: true, since }));
      }
      if (message.id === "late") expect(message.error.code).to.equal("conflict");
      if (message.type === "approval_result") expect(message.approved).to.equal(true);
      if (message.type === "stream_end") break;
    }
    socket.close();
    expect(seen).to.include("tool_output").and.include("approval_result").and.include("stream_error");
  });

  it("is asked in useChat's stream, and goes on after the answer", async () => {
    const transport = new DefaultChatTransport<UIMessage>({ api: `${url}/ai-sdk/boss` });
    const messages: UIMessage[] = [{ id: "m1", role: "user", parts: [{ type: "text", text: "the books" }] }];
    const send = async (): Promise<UIMessage | undefined> => {
      const stream = await transport.sendMessages({
        chatId: "c1",
        messages,
        abortSignal: undefined,
        trigger: "submit-message",
        messageId: undefined,
      });
      const before = messages.at(-1);
      let last: UIMessage | undefined;
      const from = before?.role === "assistant" ? { message: before, stream } : { stream };
      for await (const message of readUIMessageStream(from)) last = message;
      return last;
    };
    const first = await send();
    if (first === undefined) return expect.fail("nothing was said");
    const part = first.parts.find((candidate) => "approval" in candidate && candidate.approval !== undefined);
    expect(part).to.include({ type: "dynamic-tool", toolName: "sum", state: "approval-requested" });
    Object.assign(part ?? {}, {
      state: "approval-responded",
      approval: { ...(part as { approval: object }).approval, approved: true },
    });
    messages.push(first);
    const last = await send();
    const said = last?.parts.map((candidate) => (candidate.type === "text" ? candidate.text : "")).join("");
    expect(said).to.contain("the boss is content");
  });

  it("is an interrupt of AG-UI, with the children's progress before it", async () => {
    const agent = new HttpAgent({ url: `${url}/ag-ui/boss` });
    agent.addMessage({ id: "m1", role: "user", content: "the books" });
    const custom: string[] = [];
    let outcome: unknown;
    await agent.runAgent(
      {},
      {
        onCustomEvent: ({ event }) => void custom.push(event.name),
        onRunFinishedEvent: ({ event }) => {
          outcome = event.outcome;
        },
      },
    );
    expect(custom).to.include("tool.output");
    expect(outcome).to.have.property("type", "interrupt");
    expect(JSON.stringify(outcome)).to.contain('\\"sum\\" of the agent \\"cashier\\"');
  });
});

async function* on(socket: WebSocket): AsyncGenerator<[unknown]> {
  const queue: unknown[] = [];
  let wake = () => {};
  socket.on("message", (data) => {
    queue.push(data);
    wake();
  });
  for (;;) {
    while (queue.length > 0) yield [queue.shift()];
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
}
