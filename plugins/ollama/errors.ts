import { VenturiError } from "venturi/plugin";
import { asCount, asRecord, asText, codeInBody } from "venturi/plugin/provider";

const op = "provider.stream";

/** `{"error":"text"}`, as a line of a started stream; models in Ollama's cloud add a status. */
export function errorOf(body: unknown): VenturiError {
  const outer = asRecord(body);
  const message = asText(outer.error) ?? asText(asRecord(outer.error).message) ?? "no message was given";
  const status = asCount(outer.status_code) ?? asCount(outer.status);
  const code = codeInBody(body) ?? "llm_error";
  const context = status === undefined ? {} : { details: { status } };
  return new VenturiError(op, code, `the provider reported: ${message}`, context);
}

export const broken = (message: string, details?: { readonly malformed: true }): VenturiError =>
  new VenturiError(op, "stream_error", message, details && { details });
