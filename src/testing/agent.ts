import { strict as assert } from "node:assert";

/** The fields of a chunk that the suite needs; Venturi's `Chunk` has them. */
export interface AgentChunk {
  readonly content?: string;
  readonly toolCalls?: readonly (
    | { readonly id: string; readonly name: string; readonly argumentsDelta: string; readonly partial: true }
    | { readonly id: string; readonly name: string; readonly arguments: unknown; readonly partial: false }
  )[];
  readonly action?: { readonly type: string };
  readonly finish?: { readonly reason: string; readonly output: string; readonly usage: object };
  readonly err?: { readonly code: string };
  readonly metadata: { readonly run: string; readonly seq: number; readonly at: number; readonly sinceStartMs: number };
}

export interface AgentUnderTest {
  streamExecute(inputs: string, options?: { signal?: AbortSignal }): AsyncIterable<AgentChunk>;
  streamPlan(steps: readonly [], inputs: string, options?: { signal?: AbortSignal }): AsyncIterable<AgentChunk>;
  execute(inputs: string): Promise<{ reason: string; output: string }>;
}

export interface OpenedAgents {
  readonly agent: AgentUnderTest;
  /** An agent whose provider fails mid-stream. */
  readonly failing: AgentUnderTest;
  /** Open provider requests, as seen by the provider. */
  openRequests(): number;
  close(): Promise<void>;
}

export interface AgentSubject {
  open(): Promise<OpenedAgents>;
  /** A prompt answered with text in several chunks. */
  readonly plain: string;
  /** A prompt that makes the model call a tool, and the tool's name. */
  readonly tool: { readonly prompt: string; readonly name: string };
  /** A prompt whose answer takes long enough to be cancelled midway. */
  readonly long: string;
}

export interface AgentCase {
  readonly name: string;
  check(opened: OpenedAgents, subject: AgentSubject): Promise<void>;
}

/** Maximum time to the first chunk, ms, whatever the model does. */
const firstChunkWithin = 200;

/** The contract of every agent, for any test runner: `check` rejects when the agent breaks it. */
export const agentCases: readonly AgentCase[] = [
  {
    name: "chunks arrive in order and the stream closes, the last chunk alone with finish",
    async check({ agent }, { plain }) {
      const chunks = await collect(agent.streamExecute(plain));
      assert.ok(chunks.length >= 2);
      assert.ok(chunks.some((chunk) => chunk.content));
      endsOnce(chunks);
      assert.ok(chunks.at(-1)?.finish);
      const places = chunks.map(({ metadata }) => metadata.seq);
      assert.deepEqual(
        places,
        places.toSorted((left, right) => left - right),
      );
      const times = chunks.map(({ metadata }) => metadata.sinceStartMs);
      assert.ok(times.every((time, index) => time >= (times[index - 1] ?? 0)));
    },
  },
  {
    name: "tool calls appear while they stream, in pieces and then whole, before the stream ends",
    async check({ agent }, { tool }) {
      const chunks = await collect(agent.streamExecute(tool.prompt));
      const calls = chunks.flatMap(({ toolCalls = [] }, at) => toolCalls.map((call) => ({ call, at })));
      const whole = calls.find(({ call }) => !call.partial && call.name === tool.name);
      assert.ok(whole !== undefined && !whole.call.partial && whole.at < chunks.length - 1);
      const { id } = whole.call;
      const pieces = calls.flatMap(({ call, at }) => (call.partial && call.id === id ? [{ ...call, at }] : []));
      assert.ok(pieces.length > 0 && pieces.every(({ at }) => at < whole.at));
      const text = pieces.map(({ argumentsDelta }) => argumentsDelta).join("");
      assert.deepEqual(JSON.parse(text === "" ? "{}" : text), whole.call.arguments);
      assert.ok(chunks.slice(whole.at).some((chunk) => chunk.action?.type === "tool.finished"));
    },
  },
  {
    name: "a plan decides the next action and runs no tool",
    async check({ agent }, { tool }) {
      const chunks = await collect(agent.streamPlan([], tool.prompt));
      endsOnce(chunks);
      assert.equal(chunks.at(-1)?.action?.type, "call");
      assert.ok(!chunks.some((chunk) => chunk.action?.type === "tool.started"));
    },
  },
  {
    name: "an error is the last chunk, with err",
    async check({ failing }, { plain }) {
      const chunks = await collect(failing.streamExecute(plain));
      endsOnce(chunks);
      assert.ok(chunks.at(-1)?.err?.code);
    },
  },
  {
    name: "finish has the return values, and what is collected is what was streamed",
    async check({ agent }, { plain }) {
      const chunks = await collect(agent.streamExecute(plain));
      const finish = chunks.at(-1)?.finish;
      assert.ok(finish?.reason);
      assert.equal(finish.output, chunks.map((chunk) => chunk.content ?? "").join(""));
      assert.ok(Object.values(finish.usage).some((tokens) => tokens > 0));
      const { reason, output } = await agent.execute(plain);
      assert.deepEqual({ reason, output }, { reason: finish.reason, output: finish.output });
    },
  },
  {
    name: "invalid inputs fail before anything streams",
    async check({ agent }) {
      const chunks: AgentChunk[] = [];
      const read = async () => {
        for await (const chunk of agent.streamExecute("")) chunks.push(chunk);
      };
      await assert.rejects(read, { code: "invalid_input" });
      assert.equal(chunks.length, 0);
    },
  },
  {
    name: "cancelling closes the stream gracefully, leaving the loop too, and the provider's request with it",
    async check({ agent, openRequests }, { long }) {
      const controller = new AbortController();
      const chunks: AgentChunk[] = [];
      for await (const chunk of agent.streamExecute(long, { signal: controller.signal })) {
        chunks.push(chunk);
        if (chunk.content) controller.abort();
      }
      endsOnce(chunks);
      assert.equal(chunks.at(-1)?.err?.code, "stream_interrupted");
      await eventually(() => openRequests() === 0);
      for await (const chunk of agent.streamExecute(long)) if (chunk.content) break;
      await eventually(() => openRequests() === 0);
    },
  },
  {
    name: `the first chunk comes within ${firstChunkWithin} ms`,
    async check({ agent }, { long }) {
      const times: number[] = [];
      // Best of three: a busy machine is late once, an agent that waits for its model is late every time.
      for (let turn = 0; turn < 3; turn++) {
        const start = performance.now();
        for await (const _chunk of agent.streamExecute(long)) break;
        times.push(performance.now() - start);
      }
      const best = Math.min(...times);
      assert.ok(best <= firstChunkWithin, `the first chunk took ${Math.round(best)} ms`);
    },
  },
  {
    name: "100 concurrent calls are independent",
    async check({ agent }, { plain }) {
      const all = await Promise.all(Array.from({ length: 100 }, () => collect(agent.streamExecute(plain))));
      for (const chunks of all) endsOnce(chunks);
      const runs = new Set(all.map((chunks) => chunks.at(-1)?.metadata.run));
      assert.equal(runs.size, 100);
      for (const chunks of all) {
        assert.ok(chunks.every((chunk) => chunk.metadata.run === chunks[0]?.metadata.run));
      }
    },
  },
];

/** `agentCases` as mocha cases. */
export function agentContract(name: string, subject: AgentSubject): void {
  describe(`agent contract: ${name}`, () => {
    let opened: OpenedAgents;
    before(async () => {
      opened = await subject.open();
    });
    after(() => opened.close());
    for (const { name: promise, check } of agentCases) it(promise, () => check(opened, subject));
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
  for (let turn = 0; turn < 20_000 && !holds(); turn++) await new Promise((resolve) => setTimeout(resolve, 1));
  assert.ok(holds());
}
