import type { PluginFiles } from "./files.ts";

export const channelFiles = (name: string): PluginFiles => ({
  "index.ts": `import { type Channel, definePlugin, type FastifyInstance, isTerminal, VenturiError } from "venturi/plugin";
import { z } from "zod";

const Question = z.strictObject({ agent: z.string(), text: z.string() });

/** POST a question, get the answer as plain text: the smallest channel there is. */
export default definePlugin({
  name: "${name}",
  kind: "channel",
  description: "Answers in plain text",
  options: z.strictObject({
    path: z.string().startsWith("/").default("/${name}").describe("Where it is mounted."),
  }),
  create: (options): Channel<FastifyInstance> => ({
    mount(host) {
      host.server.post(options.path, async (request, reply) => {
        // The runs as this caller may see and start them: keys, permissions and limits are kept there.
        const runs = host.runsFor(request);
        const question = Question.safeParse(request.body);
        if (!question.success) throw new VenturiError("${name}.ask", "invalid_input", "send {agent, text}");
        const { run } = await runs.start({ agent: question.data.agent, input: { text: question.data.text } });
        for await (const batch of runs.follow(run, { channel: "${name}" })) {
          const last = batch.find(isTerminal);
          if (last !== undefined) return reply.type("text/plain; charset=utf-8").send(last.output);
        }
        throw new VenturiError("${name}.ask", "stream_interrupted", "the run ended without its last event");
      });
    },
  }),
});
`,
  "index.test.ts": `import assert from "node:assert/strict";
import type { FastifyInstance, RunEvent, Runs } from "venturi/plugin";
import { testPluginContext } from "venturi/testing";
import plugin from "./index.ts";

type Handler = (request: { body: unknown }, reply: Reply) => Promise<unknown>;
interface Reply {
  type(name: string): Reply;
  send(text: string): string;
}

const timing = { providerWait: 0, providerStream: 0, tool: 0, approval: 0, client: 0, runtime: 1 };
const last: RunEvent = { type: "run.finished", run: "run_1", seq: 1, at: 0, finish: "stop", output: "hello", usage: {}, rounds: 1, timing };

/** Mounts the channel on a server that keeps its one route. */
async function mount(): Promise<Handler> {
  let mounted: Handler | undefined;
  const server = { post: (_path: string, handler: Handler) => { mounted = handler; } };
  const runs = {
    start: async () => ({ run: "run_1", existing: false }),
    async *follow() {
      yield [last];
    },
  };
  const channel = await plugin.create(plugin.options.parse({}), testPluginContext());
  await channel.mount({
    server: server as unknown as FastifyInstance,
    runs: runs as unknown as Runs,
    runsFor: () => runs as unknown as Runs,
    trace: () => undefined,
    log: testPluginContext().log,
    limits: { slowReader: 1, keepAlive: 1, stalled: 1 },
    caller: () => ({ id: "test", agents: undefined }),
    permit: () => {},
  });
  assert.ok(mounted);
  return mounted;
}

const reply: Reply = { type: () => reply, send: (text) => text };

describe("${name}", () => {
  it("answers with the output of the run", async () => {
    const handler = await mount();
    assert.equal(await handler({ body: { agent: "assistant", text: "hi" } }, reply), "hello");
  });

  it("refuses what is no question", async () => {
    const handler = await mount();
    await assert.rejects(handler({ body: { txt: "hi" } }, reply), { code: "invalid_input" });
  });
});
`,
});
