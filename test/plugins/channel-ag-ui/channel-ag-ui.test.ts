import { type BaseEvent, HttpAgent } from "@ag-ui/client";
import { expect } from "chai";
import channelAgUi from "../../../plugins/channel-ag-ui/index.ts";
import { serve, type TestService } from "../../service.ts";
import { scripts } from "../channel-scripts.ts";

describe("channel-ag-ui with the official client", () => {
  let service: TestService;
  before(async () => {
    service = await serve({
      scripts: {
        ...scripts,
        asking: async ({ emit, received }) => {
          emit({ type: "tool_call.started", round: 1, call: "c1", name: "shell", index: 0 });
          emit({ type: "tool_call.ready", round: 1, call: "c1", name: "shell", arguments: {} });
          emit({ type: "approval.requested", round: 1, call: "c1", name: "shell", arguments: {} });
          const { body } = await received("approve");
          emit({ type: "tool.finished", round: 1, call: "c1", name: "shell", ok: true, output: "files", ms: 1 });
          emit({ type: "text.delta", round: 2, text: `done: ${body.approved}` });
          return undefined;
        },
      },
      channels: [{ plugin: channelAgUi }],
    });
  });
  after(() => service.close());

  const open = (agent: string) => {
    const client = new HttpAgent({ url: `${service.url}/ag-ui/${agent}`, threadId: "t1" });
    client.addMessage({ id: "u1", role: "user", content: "hi" });
    return client;
  };
  const watch = () => {
    const events: BaseEvent[] = [];
    return {
      events,
      types: () => events.map((event) => String(event.type)),
      onEvent: ({ event }: { event: BaseEvent }) => {
        events.push(event);
      },
    };
  };

  it("gives events the client verifies, and messages it builds from them", async () => {
    const client = open("clockwork");
    const seen = watch();
    const { newMessages } = await client.runAgent({}, seen);
    expect(newMessages.map((message) => [message.role, message.content])).to.deep.equal([
      ["reasoning", "Need the time."],
      ["assistant", "Let me look. "],
      ["assistant", undefined],
      ["tool", "noon"],
      ["assistant", "It is noon."],
    ]);
    expect(seen.types()[0]).to.equal("RUN_STARTED");
    expect(seen.types().at(-1)).to.equal("RUN_FINISHED");
    expect(seen.types().filter((type) => type.startsWith("STEP"))).to.have.length(4);
  });

  it("leaves calls of the client's tools to the client and takes the result", async () => {
    const client = open("delegating");
    const tools = [{ name: "weather", description: "the weather", parameters: { type: "object" } }];
    const seen = watch();
    await client.runAgent({ tools }, seen);
    expect(seen.events.at(-1)).to.have.nested.property("outcome.pendingToolCallIds[0]", "call_1");
    client.addMessage({ id: "r1", role: "tool", toolCallId: "call_1", content: "cold" });
    const { newMessages } = await client.runAgent({ tools });
    expect(newMessages.at(-1)?.content).to.equal("It is cold (weather).");
  });

  it("interrupts for an approval and goes on with the same run when it is resolved", async () => {
    const client = open("asking");
    const seen = watch();
    await client.runAgent({}, seen);
    const [interrupt] = client.pendingInterrupts;
    expect(interrupt).to.include({ reason: "approval", toolCallId: "c1" });
    const resume = [{ interruptId: interrupt?.id ?? "", status: "resolved" as const, payload: { approved: true } }];
    const { newMessages } = await client.runAgent({ resume });
    expect(newMessages.at(-1)?.content).to.equal("done: true");
    expect((await service.runs.list({ agent: "asking" })).runs).to.have.length(1);
  });

  it("reports a failed run with its code", async () => {
    const seen = watch();
    await open("broken")
      .runAgent({}, seen)
      .catch(() => {});
    expect(seen.events.at(-1)).to.include({ type: "RUN_ERROR", message: "the model broke", code: "llm_error" });
  });

  it("cancels the run when the client aborts", async () => {
    const client = open("endless");
    const running = client.runAgent({}, { onTextMessageContentEvent: () => client.abortRun() }).catch(() => {});
    await running;
    while ((await service.runs.list({ agent: "endless" })).runs[0]?.outcome !== "failed") {
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
});
