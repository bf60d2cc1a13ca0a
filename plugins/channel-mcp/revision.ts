import { isObject, type Json, RpcError, type RpcRequest, rpcCodes } from "./rpc.ts";

export const modern = "2026-07-28";
const legacy = ["2025-11-25", "2025-06-18", "2025-03-26"] as const;

/** Extension that allows any call to be answered with a task handle. */
export const tasksExtension = "io.modelcontextprotocol/tasks";

export const metaKeys = {
  version: "io.modelcontextprotocol/protocolVersion",
  capabilities: "io.modelcontextprotocol/clientCapabilities",
  logLevel: "io.modelcontextprotocol/logLevel",
  subscription: "io.modelcontextprotocol/subscriptionId",
  serverInfo: "io.modelcontextprotocol/serverInfo",
} as const;

/** Capabilities of the client of one request. */
export interface Client {
  readonly era: "modern" | "legacy";
  /** Supports forms filled in by a person. */
  readonly elicits: boolean;
  /** Accepts task handles in place of results, unasked. */
  readonly takesTasks: boolean;
  /** Accepts a stream that begins with an event with an id but no data; clients before 2025-11-25 fail on it. */
  readonly takesPriming: boolean;
}

/** The protocol revision to use with a client that offers this one. */
export const negotiated = (offered: unknown): string => legacy.find((version) => version === offered) ?? legacy[0];

const headerNames: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * The client of a stateless request, which describes itself completely; undefined for an older revision. Throws if headers and body
 * disagree, since intermediaries route by headers.
 */
export function modernClient({ method, params }: RpcRequest, headers: Headers): Client | undefined {
  const meta = isObject(params._meta) ? params._meta : {};
  const version = meta[metaKeys.version];
  const announced = headers["mcp-protocol-version"];
  if (version === undefined) {
    if (announced !== modern) return undefined;
    throw refused(rpcCodes.invalidParams, `_meta["${metaKeys.version}"] is missing`);
  }
  if (typeof version !== "string") throw refused(rpcCodes.invalidParams, `_meta["${metaKeys.version}"] is no text`);
  if (announced !== version) throw mismatch("mcp-protocol-version");
  if (version !== modern) {
    throw refused(rpcCodes.unsupportedVersion, `revision ${version} is not spoken here`, {
      supported: [modern],
      requested: version,
    });
  }
  const capabilities = meta[metaKeys.capabilities];
  if (!isObject(capabilities)) throw refused(rpcCodes.invalidParams, `_meta["${metaKeys.capabilities}"] is missing`);
  if (headers["mcp-method"] !== method) throw mismatch("mcp-method");
  const named = headerNames[method];
  if (named !== undefined && decoded(headers["mcp-name"]) !== params[named]) throw mismatch("mcp-name");
  return {
    era: "modern",
    elicits: elicitsForms(capabilities),
    takesTasks: isObject(capabilities.extensions) && isObject(capabilities.extensions[tasksExtension]),
    takesPriming: false,
  };
}

/** An elicitation capability without modes means forms. */
const elicitsForms = ({ elicitation }: Json): boolean =>
  isObject(elicitation) && (elicitation.form !== undefined || elicitation.url === undefined);

/**
 * Session id for older revisions. We keep no session: the id encodes the client's capabilities, readable by any replica. Its random part
 * identifies the client's requests, so that they can be cancelled.
 */
export function sessionId({ capabilities, protocolVersion }: Json): string {
  const form = isObject(capabilities) && elicitsForms(capabilities) ? "f" : "";
  const priming = negotiated(protocolVersion) === legacy[0] ? "p" : "";
  return `${crypto.randomUUID()}.${form}${priming}`;
}

export function legacyClient(session: unknown): Client {
  const abilities = typeof session === "string" ? session.slice(session.lastIndexOf(".")) : "";
  return {
    era: "legacy",
    elicits: abilities.includes("f"),
    takesTasks: false,
    takesPriming: abilities.includes("p"),
  };
}

/** Texts that no header can hold are sent as `=?base64?…?=`. */
function decoded(value: string | readonly string[] | undefined): string | undefined {
  if (typeof value !== "string") return undefined;
  const wrapped = /^=\?base64\?([A-Za-z0-9+/=]*)\?=$/.exec(value)?.[1];
  return wrapped === undefined ? value : Buffer.from(wrapped, "base64").toString();
}

const refused = (code: number, message: string, data?: unknown): RpcError =>
  new RpcError(code, message, { status: 400, ...(data === undefined ? {} : { data }) });

const mismatch = (header: string): RpcError =>
  refused(rpcCodes.headerMismatch, `the header ${header} and the body do not say the same`);
