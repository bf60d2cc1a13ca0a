import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import { redactor, traceHeadersIn } from "venturi/internal";
import { type Egress, type ToolContext, VenturiError } from "venturi/plugin";
import type { Operation, Prepared } from "./operation.ts";
import type { HttpToolOptions } from "./options.ts";
import { type Answer, toOutput } from "./response.ts";

const op = "tool.call";

interface Agents {
  readonly httpAgent: HttpAgent;
  readonly httpsAgent: HttpsAgent;
}

export interface Sending {
  readonly call: ToolContext;
  readonly timeout: number;
}

/** Sends operations; each hop must go to a listed host, at a public address unless the config allows otherwise. */
export class Sender {
  readonly #options: HttpToolOptions;
  readonly #egress: Egress;
  readonly #redact: (text: string) => string;
  readonly #guarded: Agents;
  readonly #open: Agents;

  constructor(options: HttpToolOptions, egress: Egress, secrets: readonly Readonly<Record<string, string>>[]) {
    this.#options = options;
    this.#egress = egress;
    this.#guarded = agentsFor(egress.lookup(["public"]));
    this.#open = agentsFor(egress.lookup(["public", "private"]));
    this.#redact = redactor(...secrets);
  }

  async send(operation: Operation, input: Readonly<Record<string, unknown>>, sending: Sending): Promise<unknown> {
    const { call } = sending;
    call.signal.throwIfAborted();
    const prepared = operation.prepare(input);
    const deadline = AbortSignal.timeout(sending.timeout);
    const signal = AbortSignal.any([call.signal, deadline]);
    try {
      return toOutput(
        await this.#follow(operation, prepared, { call, signal }),
        this.#options.maxResponse,
        this.#redact,
      );
    } catch (thrown) {
      if (call.signal.aborted) throw new VenturiError(op, "stream_interrupted", "the request was cancelled");
      if (deadline.aborted)
        throw new VenturiError(op, "tool_timeout", `no complete answer within ${sending.timeout} ms`);
      throw this.#explain(thrown);
    }
  }

  close(): void {
    for (const { httpAgent, httpsAgent } of [this.#guarded, this.#open]) {
      httpAgent.destroy();
      httpsAgent.destroy();
    }
  }

  async #follow(
    operation: Operation,
    prepared: Prepared,
    context: { call: ToolContext; signal: AbortSignal },
  ): Promise<Answer> {
    let url = new URL(prepared.url);
    const origin = url.origin;
    for (let hop = 0; ; hop++) {
      const answer = await this.#request(operation, { prepared, url, withSecrets: url.origin === origin }, context);
      const location = answer.headers.location;
      if (answer.status < 300 || answer.status > 399 || location === undefined) return answer;
      const next = new URL(location, url);
      if (operation.method !== "GET" && operation.method !== "HEAD") {
        throw new VenturiError(op, "tool_failed", `the server redirects a ${operation.method}, which is not followed`);
      }
      if (hop >= this.#options.maxRedirects)
        throw new VenturiError(op, "tool_failed", "the server redirects too often");
      url = next;
    }
  }

  async #request(
    operation: Operation,
    { prepared, url, withSecrets }: { prepared: Prepared; url: URL; withSecrets: boolean },
    { call, signal }: { call: ToolContext; signal: AbortSignal },
  ): Promise<Answer> {
    this.#egress.check(url);
    const { default: axios } = await import("axios");
    const response = await axios.request<Readable>({
      adapter: "http",
      method: operation.method,
      url: url.href,
      headers: {
        accept: "application/json, text/*;q=0.9, */*;q=0.5",
        "user-agent": "venturi",
        // Credentials are for the configured host, not for redirect targets.
        ...(withSecrets ? { ...this.#options.headers, ...prepared.headers } : {}),
        ...(operation.effect === "pure" ? {} : { [this.#options.idempotencyHeader]: call.idempotencyKey }),
        ...traceHeadersIn(call),
      },
      ...(prepared.body === undefined ? {} : { data: prepared.body }),
      ...(this.#egress.mayBePrivate(url) ? this.#open : this.#guarded),
      signal,
      proxy: false,
      maxRedirects: 0,
      responseType: "stream",
      validateStatus: () => true,
    });
    return await readAnswer(response, this.#options.maxResponse);
  }

  /** Never exposes the library's error, which contains the request and its credentials. */
  #explain(thrown: unknown): VenturiError {
    if (VenturiError.isInstance(thrown)) return thrown;
    // A refused address arrives as the cause of a failed connection.
    if (thrown instanceof Error && VenturiError.isInstance(thrown.cause)) return thrown.cause;
    const message = thrown instanceof Error ? thrown.message : "";
    return new VenturiError(op, "unavailable", this.#redact(`the request failed: ${message || "no connection"}`));
  }
}

const agentsFor = (lookup: LookupFunction): Agents => ({
  httpAgent: new HttpAgent({ keepAlive: true, lookup }),
  httpsAgent: new HttpsAgent({ keepAlive: true, lookup }),
});

/** Keeps at most one byte more than the limit, so that the caller can detect truncation. */
async function readAnswer(
  response: { status: number; headers: object; data: Readable },
  most: number,
): Promise<Answer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response.data) {
    chunks.push(chunk as Buffer); // A stream without an encoding yields Buffers.
    size += (chunk as Buffer).length;
    if (size > most) break; // Leaving the loop destroys the stream and its connection.
  }
  const headers = Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, String(value)]));
  return { status: response.status, headers, body: Buffer.concat(chunks).subarray(0, most + 1) };
}
