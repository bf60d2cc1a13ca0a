/** Where in the program a definition is; `line` is 0 if unknown. */
export interface CallSite {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

const isDoor = /[\\/](?:doors[\\/]door\.[jt]s|dist[\\/]bundle[\\/][^\\/]+):/;

/** Where `callee` was called, from the stack, so that messages about a definition can name its place. */
export function callSite(callee: (...args: never[]) => unknown): CallSite | undefined {
  const holder: { stack?: string } = {};
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 2;
  Error.captureStackTrace(holder, callee);
  Error.stackTraceLimit = stackTraceLimit;
  const [first = "", second = ""] = (holder.stack ?? "").split("\n").slice(1);
  const frame = isDoor.test(first) ? second : first; // The package's entry point is in between.
  const [, file = "", line, column] = /\(?((?:file:\/\/)?[^\s()]+):(\d+):(\d+)\)?$/.exec(frame) ?? [];
  if (file === "") return undefined;
  return { file: decodeURI(file.replace(/^file:\/\//, "")), line: Number(line), column: Number(column) };
}
