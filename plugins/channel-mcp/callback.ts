import { createHash } from "node:crypto";
import { type ChannelHost, Journal, type PluginContext, VenturiError } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";

/** Where plugin mcp notes which question a sign-in belongs to. */
const space = "mcp-oauth";

/**
 * Where an authorization server sends a person back to, after signing in for a tool of type mcp. Open to anyone, as a browser
 * brings no key: it answers the one question that was noted for the state, and says nothing of it.
 */
export function mountCallback(host: ChannelHost<FastifyInstance>, prefix: string, context: PluginContext): void {
  const schema = { summary: "Where a person comes back to after signing in at an MCP server", tags: ["mcp"] };
  host.server.get(`${prefix}/callback`, { config: { open: true }, schema }, async (request, reply) => {
    const { state } = request.query as { state?: unknown }; // of any type until here
    const question = typeof state === "string" ? await questionOf(context, state) : undefined;
    if (question === undefined) {
      throw new VenturiError("auth.callback", "not_found", "nobody is waiting for this sign-in; start it again");
    }
    const redirect = new URL(request.url, "http://localhost").href;
    const { run, call } = question;
    await context
      .runs()
      .signal(run, "approve", { call, approved: true, by: "sign-in", answer: { redirect } }, `approve:${call}`);
    return await reply.type("text/plain; charset=utf-8").send("Signed in. You can close this window.\n");
  });
}

async function questionOf(context: PluginContext, state: string): Promise<{ run: string; call: string } | undefined> {
  const hash = createHash("sha256").update(state).digest("hex");
  const found = await context.resolve(Journal).keyValues?.get(space, `state/${hash}`);
  return found === undefined ? undefined : (JSON.parse(found.value) as { run: string; call: string }); // written by plugin mcp
}
