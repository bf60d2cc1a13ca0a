import type { PluginFiles } from "./files.ts";

export const journalFiles = (name: string): PluginFiles => ({
  "index.ts": `import { definePlugin, type Journal, type Ports } from "venturi/plugin";
import { z } from "zod";

/**
 * Starts out as the journal in memory with a name of its own. Replace its methods one by one with those of your engine;
 * the conformance suite in the test says when each is right.
 */
export default definePlugin({
  name: "${name}",
  kind: "journal",
  description: "Keeps runs in an engine of its own",
  options: z.strictObject({}),
  async create(_options, context): Promise<Journal> {
    const memory = await context.plugin("memory");
    const options = memory.options.parse({});
    return (await memory.create(options, context)) as Ports["journal"];
  },
});
`,
  "index.test.ts": `import assert from "node:assert/strict";
import { boxPlugin, testPluginContext } from "venturi/testing";
import plugin from "./index.ts";

const create = () => plugin.create(plugin.options.parse({}), testPluginContext({ plugin: boxPlugin }));

describe("${name}", () => {
  it("keeps a run that was enqueued", async () => {
    const journal = await create();
    const request = { agent: "assistant", input: { text: "hi" } };
    await journal.enqueue({ run: "run_1", session: undefined, request });
    assert.equal((await journal.get("run_1"))?.agent, "assistant");
    await journal.close();
  });
});
`,
});
