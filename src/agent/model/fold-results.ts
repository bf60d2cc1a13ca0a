import type { Message, ToolResultPart } from "../../core/model/messages.ts";

/** Shorter results are sent whole: a reference would save nothing. */
const leastFolded = 400;

export interface FoldedResults {
  readonly messages: readonly Message[];
  readonly calls: readonly string[];
}

/** Replaces tool results older than the newest `rounds` rounds with references that `read_result` resolves. */
export function foldResults(messages: readonly Message[], rounds: number | undefined): FoldedResults {
  if (rounds === undefined) return { messages, calls: [] };
  let left = rounds;
  let start = messages.length;
  for (; start > 0; start--) {
    if (messages[start - 1]?.role !== "tool" || messages[start]?.role === "tool") continue;
    if (left === 0) break;
    left -= 1;
  }
  if (start === 0) return { messages, calls: [] };
  const calls: string[] = [];
  const folded = messages.map((message, index) => {
    if (index >= start || message.role !== "tool") return message;
    const parts = message.parts.map((part) => {
      if (part.type !== "tool_result" || !isLong(part)) return part;
      calls.push(part.call);
      const { hash: _h, size: _s, images: _i, files: _f, native: _n, ...rest } = part;
      return { ...rest, output: reference(part) };
    });
    return { ...message, parts };
  });
  return { messages: folded, calls };
}

const isLong = ({ output, images = [], files = [] }: ToolResultPart): boolean =>
  output.length > leastFolded || images.length > 0 || files.length > 0;

const reference = ({ call, output, size = output.length }: ToolResultPart): string =>
  `[an earlier result of ${size} characters, no longer shown; read_result with call "${call}" and offset 0 gives it]`;
