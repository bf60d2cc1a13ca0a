/** Where in the program a definition stands; `line` is 0 when that is not known. */
export interface CallSite {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

const isDoor = /[\\/](?:doors[\\/]door\.[jt]s|dist[\\/]bundle[\\/][^\\/]+):/;

/** Where `callee` was called, by the stack: messages about a definition name its place. */
export function callSite(callee: (...args: never[]) => unknown): CallSite | undefined {
  const holder: { stack?: string } = {};
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 2;
  Error.captureStackTrace(holder, callee);
  Error.stackTraceLimit = stackTraceLimit;
  const [first = "", second = ""] = (holder.stack ?? "").split("\n").slice(1);
  const frame = isDoor.test(first) ? second : first; // the package's entry point stands in between
  const [, file = "", line, column] = /\(?((?:file:\/\/)?[^\s()]+):(\d+):(\d+)\)?$/.exec(frame) ?? [];
  if (file === "") return undefined;
  return { file: decodeURI(file.replace(/^file:\/\//, "")), line: Number(line), column: Number(column) };
}
