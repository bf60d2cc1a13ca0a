import { readSchema, schemaLimits } from "../../agent/schema/json-schema.ts";
import { VenturiError, wrap } from "../../core/errors/errors.ts";
import type { Signal } from "../../core/journal/journal.ts";
import type { Part } from "../../core/model/messages.ts";
import type { RunRequest } from "../../core/run/run-request.ts";
import { isMediaType } from "../../core/values/media-type.ts";
import { excessOf, recordLimits, valueLimits } from "../../core/values/value-limits.ts";

const op = "run.start";
const mostClientTools = 256;

/** Checks that a request can be stored, whichever channel, command or agent it came from. */
export function checkBounds(request: RunRequest, { metadata }: { readonly metadata: number }): void {
  const { session } = request;
  if (session !== undefined && !isName(session)) {
    throw new VenturiError(op, "invalid_input", "a session's name has 1 to 256 characters, none of them a NUL");
  }
  const excess = excessOf(request.metadata ?? {}, { ...valueLimits, size: metadata });
  if (excess !== undefined) {
    throw new VenturiError(op, "too_large", `the metadata ${excess}; limits.metadata sets its size`);
  }
  checkSchemas(request);
  for (const { parts } of request.input.messages ?? []) checkMediaTypes(parts);
  const whole = excessOf(request, { ...valueLimits, size: recordLimits.size });
  if (whole !== undefined) throw new VenturiError(op, "invalid_input", `the request ${whole}`);
}

function checkMediaTypes(parts: readonly Part[]): void {
  for (const part of parts) {
    if (part.type === "tool_result") checkMediaTypes([...(part.images ?? []), ...(part.files ?? [])]);
    if (part.type !== "image" && part.type !== "file") continue;
    if (isMediaType(part.mediaType)) continue;
    const given = JSON.stringify(part.mediaType.slice(0, 64));
    throw new VenturiError(op, "invalid_input", `the ${part.type}'s media type ${given} is none; one is "image/png"`);
  }
}

/** Checks the caller's schemas: the answer's is used for validation here, those of tools only go to the model. */
function checkSchemas({ output, clientTools = [] }: RunRequest): void {
  const schema = output?.schema;
  if (schema !== undefined) named("output", () => readSchema(schema));
  if (clientTools.length > mostClientTools) {
    throw new VenturiError(op, "too_large", `a request may bring ${mostClientTools} tools`);
  }
  for (const tool of clientTools) {
    const excess = excessOf(tool.parameters, schemaLimits);
    if (excess !== undefined) {
      throw new VenturiError(op, "invalid_input", `the schema of the tool "${tool.name.slice(0, 64)}" ${excess}`);
    }
  }
}

function named(what: string, read: () => unknown): void {
  try {
    read();
  } catch (thrown) {
    const { message } = wrap(op, thrown);
    throw new VenturiError(op, "invalid_input", `${what}: ${message}`, { cause: thrown });
  }
}

export function checkSignalBounds(body: Signal["body"]): void {
  const excess = excessOf(body);
  if (excess !== undefined) throw new VenturiError("run.signal", "invalid_input", `what is sent ${excess}`);
}

/** Names that every engine stores and finds unchanged. */
export const isName = (text: string): boolean =>
  text !== "" && text.length <= 256 && !text.includes("\0") && text.isWellFormed();
