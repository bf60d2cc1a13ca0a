export type RpcId = string | number;
export type JsonObject = Readonly<Record<string, unknown>>;

/** Error codes defined by JSON-RPC. */
export const jsonRpcCodes = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
} as const;

/** An error reply of a protocol over JSON-RPC. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;
  /** HTTP status of the reply. */
  readonly status: number;

  constructor(code: number, message: string, { data, status = 200 }: { data?: unknown; status?: number } = {}) {
    super(message);
    this.code = code;
    this.data = data;
    this.status = status;
  }
}

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const rpcSuccess = (id: RpcId, result: JsonObject): JsonObject => ({ jsonrpc: "2.0", id, result });

export const rpcFailure = (id: RpcId | null, { code, message, data }: RpcError): JsonObject => ({
  jsonrpc: "2.0",
  id,
  error: { code, message, ...(data === undefined ? {} : { data }) },
});

/** Reads a string parameter; throws if it is missing. */
export function rpcText(params: JsonObject, name: string): string {
  const value = params[name];
  if (typeof value === "string" && value !== "") return value;
  throw new RpcError(jsonRpcCodes.invalidParams, `${name} is missing`);
}
