import { expect } from "chai";
import type { Service } from "../../../src/host/service.ts";
import { testFolder } from "../../host/folder.ts";
import { configuration, pay, start } from "./service.ts";

interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly progressToken?: string; readonly message?: string };
  readonly result?: { readonly content: readonly { readonly text?: string }[] };
}

/** A client of an older revision that lost the stream of its call. */
describe("channel-mcp: the stream of a call, come back to", () => {
  const folder = testFolder();
  let service: Service;
  beforeEach(async () => {
    service = await start(folder.write({ "venturi.yaml": configuration(), "pay.mjs": pay }));
  });
  afterEach(() => service.drain("interrupt"));

  const headers = { "content-type": "application/json", "mcp-session-id": "s.fp" };
  const post = (body: object) =>
    fetch(`${service.url}/mcp`, {
      method: "POST",
      headers: { ...headers, accept: "application/json, text/event-stream" },
      body: JSON.stringify({ jsonrpc: "2.0", ...body }),
    });
  const comeBack = (id: string) =>
    fetch(`${service.url}/mcp`, { headers: { ...headers, accept: "text/event-stream", "last-event-id": id } });

  async function* framesOf({ body }: Response): AsyncGenerator<{ id: string | undefined; message: Message }> {
    let text = "";
    for await (const piece of body ?? []) {
      text += Buffer.from(piece).toString();
      const whole = text.split("\n\n");
      text = whole.pop() ?? "";
      for (const frame of whole) {
        const data = /^data: (.*)$/m.exec(frame)?.[1];
        if (data) yield { id: /^id: (.*)$/m.exec(frame)?.[1], message: JSON.parse(data) };
      }
    }
  }
  async function messagesOf(response: Response): Promise<Message[]> {
    const messages: Message[] = [];
    for await (const { message } of framesOf(response)) messages.push(message);
    return messages;
  }
  /** Calls an agent, and leaves after the message that is given. Its event id is what the client comes back with. */
  async function leave(name: string, isLast: (message: Message) => boolean): Promise<{ id: string; seen: Message[] }> {
    const params = { name, arguments: { ...(name === "payer" ? {} : { input: "x" }) }, _meta: { progressToken: "p" } };
    const lost = await post({ id: 5, method: "tools/call", params });
    const seen: Message[] = [];
    for await (const { id = "", message } of framesOf(lost)) {
      seen.push(message);
      if (isLast(message)) return { id, seen }; // Which ends the connection.
    }
    return expect.fail("the stream ended");
  }

  it("is a stream also when only the result is left", async () => {
    const isDone = ({ params }: Message) => JSON.stringify(params ?? {}).includes("round.finished");
    const { id } = await leave("echo", isDone);
    const back = await comeBack(id);
    expect(back.headers.get("content-type")).to.contain("text/event-stream");
    const messages = await messagesOf(back);
    expect(messages.map(({ id, result }) => [id, result?.content[0]?.text])).to.deep.equal([
      [5, "hello there, caller"],
    ]);
  });

  it("goes on with the call's progress, without a gap and nothing twice", async () => {
    const { id, seen } = await leave("slow", ({ params }) => params?.message?.includes("three") === true);
    const rest = await messagesOf(await comeBack(id));
    const told = [...seen, ...rest].filter(({ method }) => method === "notifications/progress");
    expect(told.map(({ params }) => params?.message).join("")).to.equal(rest.at(-1)?.result?.content[0]?.text);
    expect(new Set(told.map(({ params }) => params?.progressToken))).to.deep.equal(new Set(["p"]));
  });

  for (const from of ["the question", "before it"]) {
    it(`asks an open question again, once, and ends with the result of the call: from ${from}`, async () => {
      const isQuestion = ({ method }: Message) => method === "elicitation/create";
      const { id } = await leave("payer", from === "the question" ? isQuestion : () => true);
      const { runs } = await service.host.runs.list({ agent: "payer" });
      const run = runs[0]?.run ?? "";
      while ((await service.host.runs.pending(run)).length === 0) await new Promise(setImmediate);
      const asked: Message[] = [];
      let last: Message = {};
      for await (const { message } of framesOf(await comeBack(id))) {
        last = message;
        if (!isQuestion(message)) continue;
        asked.push(message);
        await post({ id: message.id, result: { action: "accept", content: { amount: 7 } } });
      }
      expect(asked).to.have.length(1);
      expect(last.result?.content[0]?.text).to.contain("paid 7 to Ann");
    });
  }
});
