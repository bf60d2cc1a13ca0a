import type { PluginFiles } from "./files.ts";

export const channelFiles = (name: string): PluginFiles => ({
  "index.ts": `import { type Channel, definePlugin, type RunEvent, type ZodRoutes } from "venturi/plugin";
import { startRun, streamRun } from "venturi/plugin/channel";
import type { FastifyInstance } from "venturi/plugin/channel";
import { z } from "zod";

/** POST a question; the answer comes as server-sent events, {"say"} for each piece of text and {"error"} for a failure. */
export default definePlugin({
  name: "${name}",
  kind: "channel",
  description: "Answers in small events",
  options: z.strictObject({
    path: z.string().startsWith("/").default("/${name}").describe("Where it is mounted."),
    onDisconnect: z.enum(["continue", "cancel"]).default("cancel").describe("What happens to a run when its client disconnects."),
  }),
  create: ({ path, onDisconnect }): Channel<FastifyInstance> => ({
    mount(host) {
      const schema = { body: z.strictObject({ agent: z.string(), text: z.string() }) };
      host.server.withTypeProvider<ZodRoutes>().post(path, { schema }, async (request, reply) => {
        const { agent, text } = request.body;
        // Permissions, limits, traces and idempotency keys are kept in there.
        const served = await startRun({ host, request, reply, channel: "${name}", onDisconnect }, { agent, input: { text } });
        await streamRun(served, project, { failed: (error) => line({ error: error.message }) });
      });
    },
  }),
});

/** A channel is a projection of the run's events; what it has no word for is left out. */
function project(event: RunEvent): string {
  if (event.type === "text.delta") return line({ say: event.text });
  return event.type === "run.failed" ? line({ error: event.error.err }) : "";
}

const line = (value: unknown): string => \`data: \${JSON.stringify(value)}\\n\\n\`;
`,
  "index.test.ts": `import { channelContract } from "venturi/testing";
import plugin from "./index.ts";

channelContract("${name}", {
  plugin,
  async ask(url, agent, { signal, onText }) {
    const response = await fetch(\`\${url}/${name}\`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ agent, text: "hello" }),
      signal,
    });
    if (!response.ok) return { text: "", error: await response.text() };
    let text = "";
    for await (const event of eventsOf(response)) {
      if (event.error !== undefined) return { text, error: event.error };
      text += event.say ?? "";
      onText(event.say ?? "");
    }
    return { text };
  },
});

async function* eventsOf(response: Response): AsyncGenerator<{ say?: string; error?: string }> {
  const decoder = new TextDecoder();
  let waiting = "";
  for await (const bytes of response.body ?? []) {
    const parts = (waiting + decoder.decode(bytes, { stream: true })).split("\\n\\n");
    waiting = parts.pop() ?? "";
    for (const part of parts) if (part.startsWith("data: ")) yield JSON.parse(part.slice(6));
  }
}
`,
});
