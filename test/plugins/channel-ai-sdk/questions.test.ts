import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import { expect } from "chai";
import { silentLog } from "../../../src/core/ports/log.ts";
import { openService, type Service } from "../../../src/host/service.ts";

const ask = (question: string) => `{ name: ask, arguments: { question: ${question} } }`;
const config = `
version: 1
providers:
  demo:
    type: simulator
    pace: 0
    scenarios: [{ name: twice, turns: [{ calls: [${ask("Who?")}, ${ask("Why?")}] }, { text: Noted. }] }]
tools: { ask: { type: ask } }
agents: { twice: { model: demo/twice, tools: [ask] } }
journal: { type: sqlite, path: ./runs.db }
channels: { ai-sdk: {} }
server: { listen: 0 }
telemetry: off
`;

interface Asked {
  readonly run: string;
  readonly call: string;
  readonly message?: string;
  readonly answered?: boolean;
  readonly answer?: unknown;
}

describe("two questions of one round in an AI SDK chat", () => {
  const folder = mkdtempSync(join(tmpdir(), "venturi-"));
  let service: Service;
  let transport: DefaultChatTransport<UIMessage>;
  before(async () => {
    const configFile = join(folder, "venturi.yaml");
    writeFileSync(configFile, config);
    service = await openService({ configFile, env: {}, log: silentLog });
    transport = new DefaultChatTransport({ api: `${service.url}/ai-sdk/twice` });
  });
  after(async () => {
    await service?.drain();
    rmSync(folder, { recursive: true, force: true });
  });

  const user: UIMessage = { id: "u1", role: "user", parts: [{ type: "text", text: "plan" }] };
  const read = async (stream: ReadableStream<UIMessageChunk>, message?: UIMessage): Promise<UIMessage> => {
    let last = message;
    for await (const state of readUIMessageStream({ stream, ...(message && { message }) })) last = state;
    if (last === undefined) throw new Error("no message");
    return last;
  };
  const send = async (chatId: string, page?: UIMessage): Promise<UIMessage> => {
    const messages = page === undefined ? [user] : [user, page];
    const to = { chatId, messages, trigger: "submit-message", messageId: undefined, abortSignal: undefined } as const;
    return await read(await transport.sendMessages(to), structuredClone(page));
  };
  const asked = ({ parts }: UIMessage): Asked[] =>
    parts.flatMap((part) => (part.type === "data-question" && "data" in part ? [part.data as Asked] : []));
  /** The page puts this into the first question that is open. */
  const filled = (page: UIMessage, given: object): UIMessage => {
    const open = asked(page).find(({ answered }) => answered === undefined);
    const parts = page.parts.map((part) =>
      "data" in part && part.data === open ? { ...part, data: { ...open, ...given } } : part,
    );
    return { ...page, parts } as UIMessage; // a data part stays one
  };
  const said = ({ parts }: UIMessage) => parts.map((part) => (part.type === "text" ? part.text : "")).join("");

  it("are answered one after the other, and the message goes on to its end", async () => {
    const first = await send("one");
    expect(asked(first).map(({ message }) => message)).to.deep.equal(["Who?"]);
    const second = await send("one", filled(first, { answered: true, answer: "Ada" }));
    expect(asked(second).at(-1)?.message).to.equal("Why?");
    const done = await send("one", filled(second, { answered: false, reason: "not now" }));
    expect(said(done)).to.equal("Noted.");
    expect(asked(done).map(({ answered, answer }) => [answered, answer])).to.deep.equal([
      [true, "Ada"],
      [false, undefined],
    ]);
  });

  it("do not stop a resumed stream once they are answered", async () => {
    const [{ run, call } = { run: "", call: "" }] = asked(await send("two"));
    const { runs } = service.host;
    await runs.signal(run, "approve", { call, approved: true, answer: "Ada" });
    for await (const batch of runs.follow(run)) if (batch.some(({ type }) => type === "question.answered")) break;
    const resumed = await transport.reconnectToStream({ chatId: "two" });
    if (resumed === null) throw new Error("nothing to resume");
    const page = await read(resumed);
    expect(asked(page).map(({ message }) => message)).to.include("Why?");
    expect(said(await send("two", filled(page, { answered: true, answer: "Because" })))).to.equal("Noted.");
  });
});
