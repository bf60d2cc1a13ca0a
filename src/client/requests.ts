import { type Retry, sleep, waitOf } from "./backoff.ts";
import { ClientError, errorOf } from "./client-error.ts";

export interface Settings {
  /** Without a trailing slash; empty: the page's own origin. */
  readonly url: string;
  readonly apiKey: string | (() => string | Promise<string>) | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
  readonly retry: Retry;
  /** A connection on which nothing arrives for this long counts as dead, ms. */
  readonly idle: number;
}

export interface Call {
  readonly op: string;
  readonly method?: "GET" | "POST" | "DELETE" | "PUT" | "PATCH";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Whether repeating it is harmless; default: depends on the method. Otherwise it is repeated only if the service refused it. */
  readonly repeatable?: boolean;
}

/** Retries where allowed, after `retry-after` or a growing wait. */
async function send(settings: Settings, call: Call): Promise<Response> {
  const repeatable = call.repeatable ?? (call.method ?? "GET") === "GET";
  for (let failures = 1; ; failures++) {
    const error = await once(settings, call).catch((thrown: unknown) => thrown);
    if (!(error instanceof ClientError)) {
      if (error instanceof Response) return error;
      throw error;
    }
    // Refused before anything was done, so always safe to repeat.
    const refused = ["rate_limited", "unavailable", "shutting_down"].includes(error.code) && error.status > 0;
    if (failures >= settings.retry.attempts || !(refused || (repeatable && error.retryable))) throw error;
    await sleep(waitOf(failures, settings.retry, error.retryAfter), call.signal);
  }
}

export async function sendJson<Answer>(settings: Settings, call: Call): Promise<Answer> {
  const response = await send(settings, call);
  return (await response.json()) as Answer; // Typed by the service's schema.
}

/** One request without retries. Rejects with a ClientError, or with the signal's reason. */
export async function once(settings: Settings, call: Call): Promise<Response> {
  const { op, method = "GET", path, query = {}, body, headers, signal } = call;
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) words.set(name, String(value));
  const search = words.size === 0 ? "" : `?${words}`;
  const key = await keyOf(settings);
  let response: Response;
  try {
    response = await settings.fetch(settings.url + path + search, {
      method,
      headers: {
        ...settings.headers,
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    throw new ClientError(
      { op, code: "unavailable", err: `no service answers at ${settings.url || "this origin"}` },
      { cause },
    );
  }
  if (response.ok) return response;
  throw await errorOf(response, op);
}

export const keyOf = async ({ apiKey: key }: Settings): Promise<string | undefined> =>
  typeof key === "function" ? await key() : key;
