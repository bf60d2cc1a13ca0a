import {
  Egress,
  egressFetch,
  framesOf,
  headerSecrets,
  isJsonObject,
  type JsonObject,
  namesPrivate,
  parseUntrusted,
  redactor,
} from "venturi/internal";
import { type EgressFetch, type Frame, messageOf, VenturiError } from "venturi/plugin";
import type { Options } from "./options.ts";

const op = "tool.call";
/** Largest answer, and largest single update of a stream, bytes. */
const mostBytes = 16 * 1024 * 1024;

export interface Card {
  readonly name: string;
  readonly description: string;
  readonly url: string;
  readonly streams: boolean;
}

/** Requests to another service's agent. Nothing it sends is trusted, or kept without a bound. */
export class Remote {
  readonly #options: Options;
  readonly #home: URL;
  readonly #fetch: EgressFetch;
  /** Hides our credentials in what the service echoes: in answers, updates and questions. */
  readonly #redact: (text: string) => string;
  #card: Card | undefined;
  #id = 0;

  constructor(options: Options) {
    this.#options = options;
    this.#home = new URL(options.url);
    this.#redact = redactor(headerSecrets(options.headers));
    const { hosts = [this.#home.host], allowPrivate, nameServers } = options;
    this.#fetch = egressFetch(
      new Egress({ hosts, allowPrivate: [...namesPrivate(this.#home), ...allowPrivate], nameServers }),
    );
  }

  close(): Promise<void> {
    return this.#fetch.close();
  }

  async card(signal: AbortSignal): Promise<Card> {
    this.#card ??= cardOf(await this.#readCard(signal));
    return this.#card;
  }

  /** One request with one answer. */
  async ask(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const response = await this.#post(method, params, { signal, accept: "application/json" });
    return resultOf(this.#parsed(await wholeOf(response)));
  }

  /** The updates of a stream, or the single answer sent instead. */
  async *stream(method: string, params: JsonObject, signal: AbortSignal): AsyncGenerator<JsonObject> {
    const response = await this.#post(method, params, { signal, accept: "text/event-stream" });
    if (!(response.headers.get("content-type") ?? "").startsWith("text/event-stream")) {
      yield resultOf(this.#parsed(await wholeOf(response)));
      return;
    }
    const frames = framesOf("sse", mostBytes);
    const batch: Frame[] = [];
    for await (const bytes of response.body ?? []) {
      frames.push(bytes, batch);
      for (const { data } of batch.splice(0)) if (data !== "") yield resultOf(this.#parsed(data));
    }
    frames.end(batch);
    for (const { data } of batch.splice(0)) if (data !== "") yield resultOf(this.#parsed(data));
  }

  async #readCard(signal: AbortSignal): Promise<JsonObject> {
    const { href } = this.#home;
    const url = href.endsWith(".json")
      ? href
      : new URL(".well-known/agent-card.json", href.endsWith("/") ? href : `${href}/`);
    const response = await this.#send(url, { signal });
    if (!response.ok) throw refused(response.status);
    return this.#parsed(await wholeOf(response));
  }

  async #post(method: string, params: JsonObject, { signal, accept }: { signal: AbortSignal; accept: string }) {
    const { url } = await this.card(signal);
    const body = JSON.stringify({ jsonrpc: "2.0", id: ++this.#id, method, params });
    const headers = { "content-type": "application/json", accept, "a2a-version": "1.0" };
    const response = await this.#send(url, { method: "POST", headers, body, signal });
    if (response.ok) return response;
    const said = await wholeOf(response)
      .then((text) => this.#parsed(text))
      .catch(() => ({}));
    if (isJsonObject(said) && isJsonObject(said.error)) resultOf(said); // Throws the error it contains.
    throw refused(response.status);
  }

  #parsed(text: string): JsonObject {
    return parsed(this.#redact(text));
  }

  async #send(target: string | URL, init: RequestInit): Promise<Response> {
    const url = new URL(target);
    // The card may name another host, which must not get these headers.
    const own = url.origin === this.#home.origin ? this.#options.headers : {};
    const headers = { ...(init.headers as Record<string, string>), ...own };
    try {
      return await this.#fetch.fetch(url, { ...init, headers, redirect: "error" });
    } catch (thrown) {
      if (VenturiError.isInstance(thrown)) throw thrown;
      throw new VenturiError(op, "unavailable", `the agent at ${url.host} cannot be reached: ${messageOf(thrown)}`);
    }
  }
}

function cardOf(card: JsonObject): Card {
  const interfaces = Array.isArray(card.supportedInterfaces) ? card.supportedInterfaces.filter(isJsonObject) : [];
  const found = interfaces.find(
    ({ protocolBinding, protocolVersion, url }) =>
      protocolBinding === "JSONRPC" && String(protocolVersion).startsWith("1.") && URL.canParse(String(url)),
  );
  if (found === undefined) throw strange("its card has no interface of A2A 1.0 over JSON-RPC");
  const { name, description, capabilities } = card;
  return {
    name: typeof name === "string" && name !== "" ? name.slice(0, 128) : "agent",
    description: typeof description === "string" ? description.slice(0, 4_000) : "",
    url: String(found.url),
    streams: isJsonObject(capabilities) && capabilities.streaming === true,
  };
}

async function wholeOf(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of response.body ?? []) {
    length += piece.length;
    if (length > mostBytes) throw strange(`its answer is larger than ${mostBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

function parsed(text: string): JsonObject {
  let value: unknown;
  try {
    value = parseUntrusted(text, { anyNumber: true }); // One number of another service must not cost its whole answer.
  } catch (thrown) {
    throw strange(`its answer is no JSON: ${messageOf(thrown)}`);
  }
  if (isJsonObject(value)) return value;
  throw strange("its answer is no object");
}

function resultOf({ result, error }: JsonObject): JsonObject {
  if (isJsonObject(error)) {
    const said = typeof error.message === "string" ? error.message.slice(0, 1_000) : "no message was given";
    throw new VenturiError(op, "tool_failed", `the agent refuses: ${said}`, {
      details: { vendorCode: Number(error.code) },
    });
  }
  if (isJsonObject(result)) return result;
  throw strange("its answer has no result");
}

const refused = (status: number): VenturiError =>
  new VenturiError(
    op,
    status >= 500 || status === 429 ? "unavailable" : "tool_failed",
    `the agent's service answered ${status}`,
  );

export const strange = (message: string): VenturiError =>
  new VenturiError(op, "tool_failed", `the agent cannot be understood: ${message}`);
