import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import { expect } from "chai";
import channelAiSdk from "../../../plugins/channel-ai-sdk/index.ts";
import type { RunRequest } from "../../../src/core/run/run-request.ts";
import { serve, type TestService, text } from "../../service.ts";
import { scripts } from "../channel-scripts.ts";

describe("channel-ai-sdk with the AI SDK's own transport", () => {
  let service: TestService;
  before(async () => {
    service = await serve({
      scripts: {
        ...scripts,
        asking: async ({ emit, received }) => {
          emit({ type: "round.started", round: 1, model: "test/model", attempt: 1 });
          emit({ type: "tool_call.started", round: 1, call: "c1", name: "shell", index: 0 });
          emit({ type: "tool_call.ready", round: 1, call: "c1", name: "shell", arguments: { command: "ls" } });
          emit({ type: "approval.requested", round: 1, call: "c1", name: "shell", arguments: { command: "ls" } });
          const { body } = await received("approve");
          emit({ type: "approval.resolved", round: 1, call: "c1", approved: body.approved === true });
          emit({ type: "tool.finished", round: 1, call: "c1", name: "shell", ok: true, output: "files", ms: 1 });
          emit({ type: "round.started", round: 2, model: "test/model", attempt: 1 });
          emit({ type: "text.delta", round: 2, text: `done: ${body.approved}` });
          return undefined;
        },
        retracting: async ({ emit }) => {
          emit({ type: "round.started", round: 1, model: "a", attempt: 1 }, text("wrong"));
          emit({ type: "round.retracted", round: 1, attempt: 1, reason: "failover" });
          emit({ type: "round.started", round: 1, model: "b", attempt: 2 }, text("right"));
          return undefined;
        },
      },
      channels: [{ plugin: channelAiSdk }],
    });
  });
  after(() => service.close());

  const transport = (agent: string) => new DefaultChatTransport({ api: `${service.url}/ai-sdk/${agent}` });
  const user = (content: string): UIMessage => ({ id: "u1", role: "user", parts: [{ type: "text", text: content }] });
  const send = (agent: string, messages: UIMessage[], chatId = "chat-1") =>
    transport(agent).sendMessages({
      chatId,
      messages,
      trigger: "submit-message",
      messageId: undefined,
      abortSignal: undefined,
    });
  const collect = async (stream: ReadableStream<UIMessageChunk>, message?: UIMessage): Promise<UIMessage> => {
    let last: UIMessage | undefined;
    const options = { stream, terminateOnError: true, ...(message === undefined ? {} : { message }) };
    for await (const state of readUIMessageStream(options)) last = state;
    if (last === undefined) throw new Error("no message");
    return last;
  };
  const textOf = (message: UIMessage) => message.parts.map((part) => (part.type === "text" ? part.text : "")).join("|");

  it("builds one message of steps, text, reasoning and tool parts", async () => {
    const message = await collect(await send("clockwork", [user("hi")]));
    expect(message.parts.map((part) => part.type)).to.deep.equal([
      "step-start",
      "reasoning",
      "text",
      "dynamic-tool",
      "step-start",
      "text",
    ]);
    expect(message.parts[3]).to.deep.include({ toolName: "clock", state: "output-available", output: "noon" });
    expect(message.metadata).to.have.nested.property("usage.outputTokens", 7);
  });

  it("sends the conversation on, with tool calls and results in order", async () => {
    const before = await collect(await send("clockwork", [user("hi")]));
    const message = await collect(await send("echo", [user("hi"), before, { ...user("again"), id: "u2" }]));
    const request = JSON.parse(textOf(message).replaceAll("|", "")) as RunRequest;
    expect(request.input.messages?.map((item) => [item.role, item.parts.map((part) => part.type)])).to.deep.equal([
      ["user", ["text"]],
      ["assistant", ["text", "tool_call"]],
      ["tool", ["tool_result"]],
      ["assistant", ["text"]],
      ["user", ["text"]],
    ]);
  });

  it("lets a client that went away resume the stream, and answers 204 when nothing is under way", async () => {
    const abort = new AbortController();
    const stream = await transport("endless").sendMessages({
      chatId: "chat-2",
      messages: [user("hi")],
      trigger: "submit-message",
      messageId: undefined,
      abortSignal: abort.signal,
    });
    const reader = stream.getReader();
    while ((await reader.read()).value?.type !== "text-delta");
    abort.abort();
    const resumed = await transport("endless").reconnectToStream({ chatId: "chat-2" });
    if (resumed === null) throw new Error("nothing to resume");
    const [run] = (await service.runs.list({ agent: "endless" })).runs;
    await service.runs.cancel(run?.run ?? "");
    const types: string[] = [];
    for await (const chunk of resumed as unknown as AsyncIterable<UIMessageChunk>) types.push(chunk.type);
    expect(types).to.include("text-delta");
    expect(types.at(-1)).to.equal("abort");
    expect(await transport("endless").reconnectToStream({ chatId: "chat-2" })).to.equal(null);
    expect(await transport("endless").reconnectToStream({ chatId: "other" })).to.equal(null);
  });

  it("asks for an approval and goes on with the same run when it is answered", async () => {
    const asked = await collect(await send("asking", [user("list files")]));
    const part = asked.parts.find((candidate) => candidate.type === "dynamic-tool");
    if (part?.type !== "dynamic-tool" || part.state !== "approval-requested") throw new Error("no approval");
    const { id } = part.approval;
    const answered = { ...part, state: "approval-responded" as const, approval: { id, approved: true } };
    const parts = asked.parts.map((candidate) => (candidate === part ? answered : candidate));
    const message = { ...asked, parts } as UIMessage;
    const done = await collect(await send("asking", [user("list files"), message]), message);
    expect(textOf(done)).to.include("done: true");
    expect(done.id).to.equal(asked.id);
    expect((await service.runs.list({ agent: "asking" })).runs).to.have.length(1);
  });

  it("takes back what a failover retracted", async () => {
    expect(textOf(await collect(await send("retracting", [user("hi")]))))
      .to.include("right")
      .and.not.include("wrong");
  });

  it("reports a failed run and a request that is not accepted", async () => {
    const failure = await collect(await send("broken", [user("hi")])).catch((error: unknown) => error);
    expect(String(failure)).to.include("the model broke");
    const refused = await send("nobody", [user("hi")]).catch((error: unknown) => error);
    expect(String(refused)).to.include("nobody");
  });
});
