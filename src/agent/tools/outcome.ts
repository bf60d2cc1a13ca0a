import { VenturiError, wrap } from "../../core/errors/errors.ts";
import { RichOutput, type Tool, type ToolImage } from "../../core/ports/tool.ts";
import { isMediaType } from "../../core/values/media-type.ts";
import { excessOf, recordLimits } from "../../core/values/value-limits.ts";

/** Non-text tool output: its data, or its hash once stored. */
export type ToolContent = Omit<ToolImage, "data"> & {
  readonly data?: string;
  readonly hash?: string;
  readonly size?: number;
};

export interface Outcome {
  readonly ok: boolean;
  readonly output: string;
  /** Set when `output` is only the beginning: where the complete output is stored. */
  readonly kept?: { readonly hash: string; readonly size: number; readonly length: number };
  readonly images: readonly ToolContent[];
  readonly files: readonly (ToolContent & { readonly name?: string })[];
  readonly error: VenturiError | undefined;
  /** The run must end, whatever the failure policy. */
  readonly fatal?: boolean;
}

/** Hard limit on the stored output of a call, in characters. */
const longestKept = 4 * 1024 * 1024;
const mostItems = 64;
const largestItems = 32 * 1024 * 1024;

export function succeeded(value: unknown): Outcome {
  const rich = RichOutput.isInstance(value) ? value : undefined;
  const text = rich?.text ?? asText(value);
  const output =
    text.length > longestKept ? `${text.slice(0, longestKept)}\n[the output was longer and is lost]` : text;
  return { ok: true, output, images: checked(rich?.images ?? []), files: checked(rich?.files ?? []), error: undefined };
}

/** Validates images and files, which go into the journal and every later request of the run. */
function checked<Item extends { readonly data: string; readonly mediaType: string }>(
  items: readonly Item[],
): readonly Item[] {
  const odd = items.find(({ mediaType }) => !isMediaType(mediaType));
  if (odd !== undefined) {
    const message = `the tool gave content of the type ${JSON.stringify(odd.mediaType.slice(0, 64))}, which is none`;
    throw new VenturiError("tool.call", "tool_failed", message);
  }
  const size = items.reduce((sum, item) => sum + item.data.length, 0);
  if (items.length <= mostItems && size <= largestItems) return items;
  const message = `the tool gave ${items.length} images or files of ${size} characters; at most ${mostItems} of ${largestItems} are taken`;
  throw new VenturiError("tool.call", "too_large", message);
}

function asText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  const excess = excessOf(value, recordLimits);
  if (excess !== undefined) throw new VenturiError("tool.call", "tool_failed", `the tool's output ${excess}`);
  try {
    return JSON.stringify(value) ?? String(value);
  } catch (cause) {
    throw new VenturiError("tool.call", "tool_failed", "the tool's output cannot be written as JSON", { cause });
  }
}

export const failed = (error: VenturiError): Outcome => ({
  ok: false,
  output: `${error.code}: ${error.message}`.slice(0, longestKept),
  images: [],
  files: [],
  error,
});

export function toolError(tool: Tool, thrown: unknown): VenturiError {
  if (VenturiError.isInstance(thrown)) return wrap("tool.call", thrown);
  const message = thrown instanceof Error ? `${thrown.message}${codeBehind(thrown)}` : String(thrown);
  return new VenturiError("tool.call", "tool_failed", `${tool.name}: ${message}`, { cause: thrown });
}

/** Adds the cause's code: "fetch failed" alone explains nothing. */
function codeBehind({ cause }: Error): string {
  const { code } = (cause ?? {}) as NodeJS.ErrnoException; // A Node.js error or anything else.
  return typeof code === "string" && code.length <= 64 ? ` (${code})` : "";
}
