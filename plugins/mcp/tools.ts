import type { Tool as RemoteTool } from "@modelcontextprotocol/client";
import {
  type Effect,
  fromToolOptions,
  messageOf,
  type Tool,
  type ToolContext,
  traceHeadersIn,
  VenturiError,
} from "venturi/plugin";
import type { Connection } from "./connection.ts";
import type { McpOptions } from "./options.ts";
import type { Vetted } from "./pin.ts";
import { toOutput } from "./result.ts";

export interface Offer {
  readonly options: McpOptions;
  readonly prefix: string;
  readonly vetted: Vetted;
  readonly connection: Connection;
  redact(text: string): string;
}

/** The loop enforces call timeouts; the library's default of a minute would cut long calls short. */
const noTimeout = 24 * 3_600_000;

/** The server's tools as ours. Tools that only run as background tasks are left out. */
export function toTools(remote: readonly RemoteTool[], offer: Offer): Tool[] {
  const tools = new Map<string, Tool>();
  for (const tool of remote) {
    if (tool.execution?.taskSupport === "required") continue;
    const ours = toTool(tool, offer);
    if (!tools.has(ours.name)) tools.set(ours.name, ours);
  }
  return [...tools.values()];
}

function toTool(remote: RemoteTool, offer: Offer): Tool {
  return {
    ...fromToolOptions(offer.options),
    ...(offer.vetted.isChanged(remote) ? { approval: "always" as const } : {}),
    name: `${offer.prefix}${remote.name}`.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64),
    description: remote.description ?? remote.title ?? remote.annotations?.title ?? `The tool ${remote.name}`,
    parameters: remote.inputSchema,
    effect: offer.options.effects[remote.name] ?? effectOf(remote),
    spanAttributes: () => offer.connection.spanAttributes,
    call: (input, context) => callRemote(remote.name, input, { offer, context }),
  };
}

function effectOf({ annotations }: RemoteTool): Effect {
  if (annotations?.readOnlyHint === true) return "pure";
  return annotations?.idempotentHint === true ? "idempotent" : "effectful";
}

async function callRemote(
  name: string,
  input: Record<string, unknown>,
  { offer, context }: { offer: Offer; context: ToolContext },
): Promise<unknown> {
  const op = "tool.call";
  const client = await offer.connection.client(context.signal);
  try {
    const result = await client.callTool(
      { name, arguments: input, _meta: traceHeadersIn(context) },
      {
        signal: context.signal,
        timeout: noTimeout,
        onprogress: ({ progress, total, message }) => {
          context.progress(offer.redact(message ?? (total === undefined ? `${progress}` : `${progress}/${total}`)));
        },
      },
    );
    return toOutput(result, offer.redact);
  } catch (thrown) {
    if (context.signal.aborted) throw new VenturiError(op, "stream_interrupted", "the call was cancelled");
    if (VenturiError.isInstance(thrown)) throw thrown;
    await offer.connection.suspect(client);
    const gone = isConnectionClosed(thrown);
    const message = gone ? "the MCP server stopped during the call; it is being restarted" : messageOf(thrown);
    throw new VenturiError(op, gone ? "unavailable" : "tool_failed", offer.redact(message));
  }
}

/** The library's SdkErrorCode.ConnectionClosed, by value because the library is loaded lazily. */
const connectionClosed = "CONNECTION_CLOSED";
const isConnectionClosed = (thrown: unknown): boolean =>
  thrown instanceof Error && "code" in thrown && thrown.code === connectionClosed;
