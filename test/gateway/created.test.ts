import { assert } from "chai";
import { ChatExtras, type ChatRun, chatCompletion } from "../../plugins/channel-openai/chat-completion.ts";
import { chatHeartbeat, chatProjection } from "../../plugins/channel-openai/chat-projection.ts";
import { ResponseProjection } from "../../plugins/channel-openai/responses-projection.ts";
import { newRunId } from "../../src/core/run/run-id.ts";

const requested = 1_700_000_000_123;
const run = newRunId(requested, "00000000-0000-4000-8000-000000000000");
/** Begun an hour after it was requested. */
const started = { type: "run.started", seq: 1, at: requested + 3_600_000, run } as never;

describe("the time at which an answer was requested", () => {
  it("is the same in a response that waits, runs and is read later", () => {
    const projection = new ResponseProjection({ run, request: { agent: "a", input: { text: "go" } } as never });
    assert.equal((projection.body as { created_at?: number }).created_at, 1_700_000_000);
    const [, data = "{}"] = /data: (.*)/.exec(projection.project(started)) ?? [];
    assert.equal(JSON.parse(data).response.created_at, 1_700_000_000);
    assert.equal((projection.body as { created_at?: number }).created_at, 1_700_000_000);
  });

  it("is the same in every chunk of a completion, its heartbeats and the whole", () => {
    const chat: ChatRun = { run, model: "m", includeUsage: false, legacy: false, custom: new Set() };
    const end = { type: "run.finished", seq: 3, at: requested, run, finish: "stop", usage: {} } as never;
    const frames = [chatProjection(chat)(end), chatHeartbeat(chat)].join("").match(/"created":\d+/g);
    assert.deepEqual([...new Set(frames)], ['"created":1700000000']);
    assert.equal(chatCompletion(chat, end, new ChatExtras()).created, 1_700_000_000);
  });
});
