import { VenturiError } from "../../core/errors/errors.ts";
import type { Opened } from "./exchange.ts";
import { header } from "./response-error.ts";

const shown = 200;

/**
 * Adds to the error of an undecodable answer what was received instead: a proxy's login page or an empty body also come with status 200.
 * Errors sent by the provider itself stay unchanged.
 */
export function explained(error: VenturiError, { status, headers }: Opened, head: Uint8Array): VenturiError {
  if (error.code !== "stream_error") return error;
  const contentType = (header(headers, "content-type") ?? "no content type").slice(0, 100);
  const began = beginningOf(head);
  const facts = { ...error.details, status, contentType, began };
  const what = `the provider answered ${status} with ${contentType}`;
  if (began === "") {
    return new VenturiError(error.op, "stream_error", `${what} and nothing in it`, {
      details: { ...facts, empty: true },
    });
  }
  if (/^text\/html\b/i.test(contentType)) {
    const message = `${what}, not with its stream: is it a proxy's or a login page? It begins with: ${began}`;
    // Not retryable: the same page would come back.
    return new VenturiError(error.op, "unavailable", message, { details: { ...facts, page: true, retry: false } });
  }
  const encoding = header(headers, "content-encoding") ?? "identity";
  if (encoding !== "identity") {
    const message = `${what} and content-encoding ${encoding.slice(0, 40)}, which was not asked for: does a proxy compress it?`;
    const details = { ...error.details, status, contentType, malformed: true };
    return new VenturiError(error.op, "stream_error", message, { details });
  }
  const message = `${error.message}; it answered ${status} with ${contentType}, which begins with: ${began}`;
  return new VenturiError(error.op, error.code, message, { details: facts });
}

/** The beginning on one line, without anything that may be a token. */
function beginningOf(head: Uint8Array): string {
  const text = Buffer.from(head)
    .toString("utf8")
    .slice(0, 2 * shown);
  const plain = text
    .replace(/[\s\p{C}]+/gu, " ")
    .replace(/[\w+/=-]{24,}/g, "[…]")
    .trim();
  return plain.length > shown ? `${plain.slice(0, shown)}…` : plain;
}
