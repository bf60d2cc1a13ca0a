import { codeInBody, count, record, VenturiError, word } from "venturi/plugin";

const op = "provider.stream";

/** `{"error":"text"}`, as a line of a started stream; models in Ollama's cloud add a status. */
export function errorOf(body: unknown): VenturiError {
  const outer = record(body);
  const message = word(outer.error) ?? word(record(outer.error).message) ?? "no message was given";
  const status = count(outer.status_code) ?? count(outer.status);
  const code = codeInBody(body) ?? "llm_error";
  const context = status === undefined ? {} : { details: { status } };
  return new VenturiError(op, code, `the provider reported: ${message}`, context);
}

export const broken = (message: string): VenturiError => new VenturiError(op, "stream_error", message);
