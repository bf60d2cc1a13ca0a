import { isAbsolute, relative } from "node:path";
import { VenturiError } from "../../core/errors/errors.ts";

/** A source location: in a file, or on the command line (line 0). */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface Problem {
  readonly place: Place;
  /** Dotted path of the key; "" for the file as a whole. */
  readonly path: string;
  readonly message: string;
}

/** All problems in one error, one line each. */
export function configInvalid(problems: readonly Problem[]): VenturiError {
  const sorted = inOrder(problems);
  return new VenturiError("config.load", "config_invalid", sorted.map(problemText).join("\n"), {
    details: { problems: sorted.map(problemJson) },
  });
}

export const placeText = ({ file, line, column }: Place): string =>
  line === 0 ? shortPath(file) : `${shortPath(file)}:${line}:${column}`;

export function problemText({ place, path, message }: Problem): string {
  const where = path === "" ? `${placeText(place)}:` : `${placeText(place)} ${path}:`;
  return `${where} ${message}`;
}

export const pathText = (path: readonly (string | number)[]): string =>
  path.reduce<string>((text, segment) => {
    if (typeof segment === "number") return `${text}[${segment}]`;
    return text === "" ? segment : `${text}.${segment}`;
  }, "");

/** As the user would type it: relative if below the working directory. */
export function shortPath(file: string): string {
  if (!isAbsolute(file)) return file;
  const short = relative(process.cwd(), file);
  return short === "" || short.startsWith("..") ? file : short;
}

const problemJson = ({ place, path, message }: Problem) => ({
  file: shortPath(place.file),
  line: place.line,
  column: place.column,
  path,
  message,
});

/** Files in order of their first problem, each from top to bottom. */
function inOrder(problems: readonly Problem[]): Problem[] {
  const files = [...new Set(problems.map(({ place }) => place.file))];
  return problems.toSorted(
    ({ place: left }, { place: right }) =>
      files.indexOf(left.file) - files.indexOf(right.file) || left.line - right.line || left.column - right.column,
  );
}
