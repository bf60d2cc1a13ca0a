import { createHash } from "node:crypto";
import { type ChannelHost, Journal, type PluginContext, VenturiError } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";

/** Where the plugin mcp stores which question a sign-in belongs to. */
const space = "mcp-oauth";

/**
 * The redirect target of an authorization server after a person signed in for a tool of type mcp. Open to anyone, since a browser sends no
 * key: it answers only the question stored for the state, and reveals nothing about it.
 */
export function mountCallback(host: ChannelHost<FastifyInstance>, prefix: string, context: PluginContext): void {
  const schema = { summary: "Where a person comes back to after signing in at an MCP server", tags: ["mcp"] };
  host.server.get(`${prefix}/callback`, { config: { open: true }, schema }, async (request, reply) => {
    const { state } = request.query as { state?: unknown }; // Any type until here.
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
  return found === undefined ? undefined : (JSON.parse(found.value) as { run: string; call: string }); // Written by the plugin mcp.
}
