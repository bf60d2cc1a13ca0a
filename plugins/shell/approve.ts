import { createHash } from "node:crypto";
import { type ToolContext, VenturiError } from "venturi/plugin";

export interface CommandLine {
  /** Program and arguments exactly as started. */
  readonly argv: readonly string[];
  readonly directory: string;
}

/**
 * Without a sandbox, a person sees the exact command lines before each call, whatever `approval` says and whatever was allowed before. So
 * the tool asks here, not through its approval setting.
 */
export async function approveLines(
  name: string,
  lines: readonly CommandLine[],
  { stdin, call }: { stdin: string | undefined; call: ToolContext },
): Promise<void> {
  const shown = {
    commands: lines.map(({ argv, directory }) => ({ argv: [...argv], directory })),
    ...(stdin === undefined ? {} : { stdin }),
  };
  // An answer from before a restart only counts for the same command lines.
  const id = createHash("sha256").update(JSON.stringify(shown)).digest("hex").slice(0, 16);
  const reason = `without a sandbox: ${lines.map(({ argv }) => argv.map(quoted).join(" ")).join("; ")}`;
  const verdict = await call.ask({ id, name, arguments: shown, reason });
  if (verdict.arguments !== undefined)
    throw new VenturiError("tool.call", "tool_denied", "an approval of a command line cannot change it");
  if (!verdict.approved) throw new VenturiError("tool.call", "tool_denied", verdict.reason ?? "the call was denied");
}

/** Quoted as a shell would read it back. */
const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
