import { strict as assert } from "node:assert";

/** What the suite needs of a chunk; Venturi's own `Chunk` fits. */
export interface AgentChunk {
  readonly content?: string;
  readonly toolCalls?: readonly { readonly name: string }[];
  readonly action?: { readonly type: string };
  readonly finish?: string;
  readonly err?: { readonly code: string };
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface AgentUnderTest {
  streamExecute(inputs: string, options?: { signal?: AbortSignal }): AsyncIterable<AgentChunk>;
  streamPlan(steps: readonly [], inputs: string, options?: { signal?: AbortSignal }): AsyncIterable<AgentChunk>;
  execute(inputs: string): Promise<{ output: string; finish: string }>;
}

export interface AgentSubject {
  open(): Promise<{
    readonly agent: AgentUnderTest;
    /** An agent whose provider fails in the middle of its stream. */
    readonly failing: AgentUnderTest;
    /** Provider requests that are open now, seen from the provider's side. */
    openRequests(): number;
    close(): Promise<void>;
  }>;
  /** A prompt that is answered with text in several chunks. */
  readonly plain: string;
  /** A prompt that makes the model call a tool, and the tool's name. */
  readonly tool: { readonly prompt: string; readonly name: string };
  /** A prompt whose answer takes long enough to be cancelled in the middle. */
  readonly long: string;
}

/** What every agent owes its caller, as mocha cases. */
export function agentContract(name: string, subject: AgentSubject): void {
  describe(`agent contract: ${name}`, () => {
    let opened: Awaited<ReturnType<AgentSubject["open"]>>;
    before(async () => {
      opened = await subject.open();
    });
    after(() => opened.close());

    it("chunks arrive and the stream closes, the last chunk alone with finish", async () => {
      const chunks = await collect(opened.agent.streamExecute(subject.plain));
      assert.ok(chunks.length >= 2);
      assert.ok(chunks.some((chunk) => chunk.content));
      endsOnce(chunks);
      assert.ok(chunks.at(-1)?.finish);
    });

    it("what is collected is what was streamed", async () => {
      const chunks = await collect(opened.agent.streamExecute(subject.plain));
      const { output } = await opened.agent.execute(subject.plain);
      assert.equal(chunks.map((chunk) => chunk.content ?? "").join(""), output);
    });

    it("tool calls appear when detected, before the stream ends", async () => {
      const chunks = await collect(opened.agent.streamExecute(subject.tool.prompt));
      const at = chunks.findIndex((chunk) => chunk.toolCalls?.some((call) => call.name === subject.tool.name));
      assert.ok(at >= 0 && at < chunks.length - 1);
      assert.ok(chunks.slice(at).some((chunk) => chunk.action?.type === "tool.finished"));
    });

    it("a plan decides the next action and runs no tool", async () => {
      const chunks = await collect(opened.agent.streamPlan([], subject.tool.prompt));
      endsOnce(chunks);
      assert.equal(chunks.at(-1)?.action?.type, "call");
      assert.ok(!chunks.some((chunk) => chunk.action?.type === "tool.started"));
    });

    it("an error is the last chunk, with err", async () => {
      const chunks = await collect(opened.failing.streamExecute(subject.plain));
      endsOnce(chunks);
      assert.ok(chunks.at(-1)?.err?.code);
    });

    it("invalid inputs fail before anything streams", async () => {
      const chunks: AgentChunk[] = [];
      const read = async () => {
        for await (const chunk of opened.agent.streamExecute("")) chunks.push(chunk);
      };
      await assert.rejects(read, { code: "invalid_input" });
      assert.equal(chunks.length, 0);
    });

    it("cancelling closes the stream gracefully, and the provider's request with it", async () => {
      const controller = new AbortController();
      const chunks: AgentChunk[] = [];
      for await (const chunk of opened.agent.streamExecute(subject.long, { signal: controller.signal })) {
        chunks.push(chunk);
        if (chunk.content) controller.abort();
      }
      endsOnce(chunks);
      assert.equal(chunks.at(-1)?.err?.code, "stream_interrupted");
      await eventually(() => opened.openRequests() === 0);
    });

    it("breaking out of the loop releases everything", async () => {
      for await (const chunk of opened.agent.streamExecute(subject.long)) if (chunk.content) break;
      await eventually(() => opened.openRequests() === 0);
    });

    it("100 concurrent calls are independent", async () => {
      const all = await Promise.all(
        Array.from({ length: 100 }, () => collect(opened.agent.streamExecute(subject.plain))),
      );
      for (const chunks of all) endsOnce(chunks);
      const runs = new Set(all.map((chunks) => chunks.at(-1)?.metadata.run));
      assert.equal(runs.size, 100);
      for (const chunks of all) {
        assert.ok(chunks.every((chunk) => chunk.metadata.run === chunks[0]?.metadata.run));
      }
    });
  });
}

async function collect(stream: AsyncIterable<AgentChunk>): Promise<AgentChunk[]> {
  const chunks: AgentChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

function endsOnce(chunks: readonly AgentChunk[]): void {
  const ends = chunks.flatMap((chunk, index) => (chunk.finish !== undefined || chunk.err ? [index] : []));
  assert.deepEqual(ends, [chunks.length - 1]);
}

async function eventually(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 2_000 && !holds(); turn++) await new Promise((resolve) => setTimeout(resolve, 1));
  assert.ok(holds());
}
