import { newestWith, shortKey, traceHeadersOf } from "venturi/internal";
import { type ChannelHost, VenturiError } from "venturi/plugin";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "venturi/plugin/channel";
import { SseWriter } from "venturi/plugin/channel";
import { followToAnswer, progressToken, questionPrefix, requestTag } from "./call.ts";
import { serveListen } from "./listen.ts";
import { dispatch } from "./methods.ts";
import type { Options } from "./options.ts";
import type { Published } from "./published.ts";
import { answer } from "./questions.ts";
import { type Place, readPlace, writePlace } from "./request-state.ts";
import { type Client, legacyClient, modernClient, sessionId } from "./revision.ts";
import {
  asRpcError,
  failure,
  type Id,
  invalidParams,
  isObject,
  type Json,
  RpcError,
  type RpcRequest,
  rpcCodes,
  success,
} from "./rpc.ts";
import type { Serving } from "./serving.ts";

type Host = ChannelHost<FastifyInstance>;

export interface Settings extends Pick<Options, "prefix" | "taskAfter"> {
  readonly published: Published;
}

/** Stateless Streamable HTTP. A request of 2026-07-28 says so in its body; any other belongs to an older revision. */
export function mountMcp(host: Host, options: Settings): void {
  const { server } = host;
  const { prefix } = options;
  const schema = { summary: "Model Context Protocol: agents as tools", tags: ["mcp"] };
  server.post(prefix, { schema }, (request, reply) => receive(host, options, { request, reply }));
  server.get(prefix, { schema: { ...schema, summary: "Comes back to the stream of a call" } }, (request, reply) =>
    comeBack(host, options, { request, reply }),
  );
  server.delete(prefix, { schema: { ...schema, summary: "There are no sessions to end" } }, (_, reply) =>
    reply.code(405).header("allow", "POST, GET").send(),
  );
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

async function receive(host: Host, options: Settings, exchange: Exchange): Promise<unknown> {
  const { request, reply } = exchange;
  const body = request.body;
  host.caller(request); // First: an unknown caller learns nothing, whatever it sent.
  if (!isObject(body) || body.jsonrpc !== "2.0") {
    const what = Array.isArray(body) ? "a batch is not taken; send its messages one by one" : "this is no JSON-RPC 2.0";
    return await reply.code(400).send(failure(null, new RpcError(rpcCodes.invalidRequest, what)));
  }
  const { id, method } = body;
  const params = isObject(body.params) ? body.params : {};
  if (typeof method !== "string") {
    await takeAnswer(host, request, body);
    return await reply.code(202).send();
  }
  if (typeof id !== "string" && typeof id !== "number") {
    if (method === "notifications/cancelled") await cancelRequest(host, request, params);
    return await reply.code(202).send();
  }
  const message = { id, method, params };
  try {
    const client = modernClient(message, request.headers) ?? legacyClient(request.headers["mcp-session-id"]);
    if (method === "initialize") reply.header("mcp-session-id", sessionId(params));
    return await serve(host, options, { exchange, client, message });
  } catch (thrown) {
    if (VenturiError.isInstance(thrown)) throw thrown;
    return await reply.code(asRpcError(thrown).status).send(failure(id, thrown));
  }
}

interface Served {
  readonly exchange: Exchange;
  readonly client: Client;
  readonly message: RpcRequest;
}

async function serve(host: Host, options: Settings, { exchange, client, message }: Served): Promise<unknown> {
  if (client.era === "modern" && message.method === "subscriptions/listen") {
    return serveListen(host, { ...exchange, message });
  }
  const outlet = new Outlet(host, exchange, { of: message.id, progress: progressToken(message.params) });
  const serving = servingOf(host, options, { exchange, client, message, outlet });
  try {
    outlet.end(200, success(message.id, await dispatch(serving, message)));
  } catch (thrown) {
    if (outlet.gone.aborted || outlet.cut(thrown)) return exchange.reply;
    const error = asRpcError(thrown);
    if (error.status >= 500) host.log.warn("an MCP request failed", { method: message.method, error: String(thrown) });
    outlet.end(error.status, failure(message.id, error));
  }
  return exchange.reply;
}

function servingOf(
  host: Host,
  { taskAfter, published }: Settings,
  { exchange, client, message, outlet }: Served & { readonly outlet: Outlet },
): Serving {
  const { request } = exchange;
  const scopes = host.scopes(request);
  const session = request.headers["mcp-session-id"];
  const isTagged = client.era === "legacy" && typeof session === "string";
  return {
    id: message.id,
    runs: host.runsFor(request),
    published,
    client,
    by: host.caller(request).id,
    may: { approve: scopes.includes("approve"), see: scopes.includes("see") },
    tag: isTagged ? tagOf(session, message.id) : undefined,
    taskAfter,
    trace: traceOf(message.params, request),
    gone: outlet.gone,
    send: (sent, place) => outlet.send(sent, place),
    onRun: (run) => {
      if (client.takesPriming) outlet.prime(run);
    },
  };
}

/** Trace headers: MCP clients send them in `_meta`, proxies as headers. */
function traceOf({ _meta }: Json, { headers }: FastifyRequest): Serving["trace"] {
  const { traceparent, tracestate, baggage } = isObject(_meta) ? _meta : {};
  if (typeof traceparent !== "string") return traceHeadersOf(headers);
  return traceHeadersOf({
    traceparent,
    ...(typeof tracestate === "string" ? { tracestate } : {}),
    ...(typeof baggage === "string" ? { baggage } : {}),
  });
}

/** One response: plain JSON, or a stream once something has to be sent before it. */
class Outlet {
  readonly #writer: SseWriter;
  readonly #call: Pick<Place, "of" | "progress">;
  readonly #streams: boolean;
  #mayComeBack = false;
  readonly gone: AbortSignal;

  constructor(host: Host, { request, reply }: Exchange, { of, progress }: Pick<Place, "of" | "progress">) {
    this.#call = { of, progress };
    this.#streams = (request.headers.accept ?? "").includes("text/event-stream");
    const hold = this.#streams ? host.limits.firstOutput : longest;
    this.#writer = new SseWriter(reply, host.limits, { hold });
    this.gone = this.#writer.gone;
  }

  send(message: Json, { run, seq }: Pick<Place, "run" | "seq">): Promise<void> | undefined {
    if (!this.#streams) return undefined;
    return this.#writer.write(frame(message, writePlace({ ...this.#call, run, seq })));
  }

  /** From now on a reader that loses its connection can resume, at any replica. */
  prime(run: string): void {
    if (!this.#streams) return;
    this.#mayComeBack = true;
    void this.#writer.write(`id: ${writePlace({ ...this.#call, run, seq: 0 })}\nretry: ${retryMs}\ndata: \n\n`);
  }

  /** Makes the response a stream although there may be nothing to send before its last message. */
  open(): void {
    if (!this.#streams) return;
    this.#mayComeBack = true;
    this.#writer.open();
  }

  /** Cuts the stream of a call that goes on elsewhere, so that its reader comes back to it; false when it cannot. */
  cut(thrown: unknown): boolean {
    if (!this.#mayComeBack || !VenturiError.is(thrown, "shutting_down")) return false;
    this.#writer.destroy();
    return true;
  }

  end(status: number, message: Json): void {
    const plain = { status, headers: {}, body: message };
    if (!this.#writer.refuse(plain, [])) this.#writer.end(frame(message));
  }
}

const retryMs = 1_000;
/** Effectively never: a reader of plain JSON gets no stream, however long it waits. */
const longest = 2 ** 31 - 1;

const frame = (message: Json, id?: string): string =>
  `event: message\n${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`;

/** Resumes the stream of a call after the last event seen. */
async function comeBack(host: Host, options: Settings, exchange: Exchange): Promise<unknown> {
  const { request, reply } = exchange;
  host.caller(request);
  const last = request.headers["last-event-id"];
  if (last === undefined) return await reply.code(405).header("allow", "POST").send();
  const place = tryPlace(String(last));
  if (place === undefined) {
    return await reply.code(400).send(failure(null, invalidParams("the event id was not issued here")));
  }
  const client = legacyClient(request.headers["mcp-session-id"]);
  const message = { id: place.of, method: "tools/call", params: {} };
  const outlet = new Outlet(host, exchange, place);
  outlet.open(); // A client that comes back reads a stream and nothing else.
  const serving = servingOf(host, options, { exchange, client, message, outlet });
  try {
    const { run, seq, progress } = place;
    const result = await followToAnswer(serving, { run, after: seq, progress, log: true });
    outlet.end(200, success(place.of, result));
  } catch (thrown) {
    if (!outlet.gone.aborted && !outlet.cut(thrown)) outlet.end(200, failure(place.of, thrown));
  }
  return reply;
}

function tryPlace(text: string): Place | undefined {
  try {
    return readPlace(text);
  } catch {
    return undefined;
  }
}

/** The answer to one of our questions; its id tells which. */
async function takeAnswer(host: Host, request: FastifyRequest, { id, result }: Json): Promise<void> {
  if (typeof id !== "string" || !id.startsWith(questionPrefix) || result === undefined) return;
  const place = tryPlace(id.slice(questionPrefix.length));
  if (place === undefined) return; // Not one of our questions.
  const { run, of } = place;
  const runs = host.runsFor(request);
  const given = { call: String(of), by: host.caller(request).id };
  if (await answer(runs, run, { ...given, reply: result })) return;
  // Nobody can correct the values: this client was asked and has answered.
  await answer(runs, run, { ...given, reply: { action: "decline" } });
}

/** In older revisions a client cancels a request by id, with a request that any replica may get. */
async function cancelRequest(host: Host, request: FastifyRequest, { requestId }: Json): Promise<void> {
  const session = request.headers["mcp-session-id"];
  if (typeof session !== "string" || (typeof requestId !== "string" && typeof requestId !== "number")) return;
  if (!host.scopes(request).includes("see")) return;
  const runs = host.runsFor(request);
  const row = await newestWith(runs, { [requestTag]: tagOf(session, requestId) });
  if (row !== undefined && row.state !== "done") await runs.cancel(row.run, "cancelled by the client");
}

const tagOf = (session: string, id: Id): string => shortKey(`${session}/${typeof id}/${id}`);
