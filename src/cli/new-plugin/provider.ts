import type { PluginFiles } from "./files.ts";

export const providerFiles = (name: string): PluginFiles => ({
  "index.ts": `import { definePlugin, textOf } from "venturi/plugin";
import { z } from "zod";

/** Answers with the last message, word by word. A provider over HTTP is built with \`httpProvider\` instead. */
export default definePlugin({
  name: "${name}",
  kind: "provider",
  description: "Repeats what it is told",
  options: z.strictObject({
    prefix: z.string().default("").describe("Put before every answer."),
  }),
  create: (options) => ({
    capabilities: { streaming: true, tools: false, vision: false, reasoning: false },
    async *stream(request, context) {
      const last = request.messages.at(-1);
      const words = \`\${options.prefix}\${last === undefined ? "" : textOf(last)}\`.match(/\\S+\\s*/g) ?? [];
      for (const text of words) {
        context.signal.throwIfAborted();
        yield [{ type: "text", text }];
      }
      yield [
        { type: "usage", usage: { inputTokens: words.length, outputTokens: words.length } },
        { type: "done", finish: "stop" },
      ];
    },
  }),
});
`,
  "index.test.ts": `import assert from "node:assert/strict";
import { type Delta, type GenerationContext, textMessage } from "venturi/plugin";
import { testPluginContext } from "venturi/testing";
import plugin from "./index.ts";

const context: GenerationContext = {
  run: "run_test",
  round: 1,
  attempt: 1,
  agent: "test",
  signal: new AbortController().signal,
  timeouts: { connect: 1000, firstChunk: 1000, idle: 1000, total: 1000 },
};

async function answer(text: string, given: Partial<GenerationContext> = {}): Promise<Delta[]> {
  const provider = await plugin.create(plugin.options.parse({ prefix: "> " }), testPluginContext());
  const request = { model: "any", messages: [textMessage("user", text)], tools: [], options: {} };
  const deltas: Delta[] = [];
  for await (const batch of provider.stream?.(request, { ...context, ...given }) ?? []) deltas.push(...batch);
  return deltas;
}

describe("${name}", () => {
  it("streams the answer and ends with done", async () => {
    const deltas = await answer("hello there");
    const text = deltas.map((delta) => (delta.type === "text" ? delta.text : "")).join("");
    assert.equal(text, "> hello there");
    assert.deepEqual(deltas.at(-1), { type: "done", finish: "stop" });
  });

  it("stops when the run is cancelled", async () => {
    await assert.rejects(answer("hello", { signal: AbortSignal.abort(new Error("cancelled")) }), /cancelled/);
  });
});
`,
});
