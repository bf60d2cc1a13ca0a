import { parse } from "sugar-high/core";
import * as diff from "sugar-high/lang/diff";
import * as javascript from "sugar-high/lang/javascript";
import * as json from "sugar-high/lang/json";
import * as python from "sugar-high/lang/python";
import * as shell from "sugar-high/lang/shell";
import * as sql from "sugar-high/lang/sql";
import * as typescript from "sugar-high/lang/typescript";
import * as yaml from "sugar-high/lang/yaml";

const languages: ReadonlyMap<string, object> = new Map<string, object>([
  ...(["js", "jsx", "javascript"] as const).map((name) => [name, javascript] as const),
  ...(["ts", "tsx", "typescript"] as const).map((name) => [name, typescript] as const),
  ...(["sh", "bash", "shell"] as const).map((name) => [name, shell] as const),
  ...(["py", "python"] as const).map((name) => [name, python] as const),
  ...(["yml", "yaml"] as const).map((name) => [name, yaml] as const),
  ["diff", diff],
  ["json", json],
  ["sql", sql],
]);

export interface Piece {
  /** Undefined: uncoloured. */
  readonly type: string | undefined;
  readonly value: string;
}

/** Splits code into coloured pieces; undefined for an unknown language. Together they equal the text. */
export function highlight(text: string, language: string): Piece[] | undefined {
  const options = languages.get(language);
  if (options === undefined) return undefined;
  try {
    const pieces: Piece[] = parse(text, options).lines.flatMap(({ tokens }, index) => [
      ...(index === 0 ? [] : [{ type: undefined, value: "\n" }]),
      ...tokens.map(({ type, value }) => ({ type: type === "space" || type === "break" ? undefined : type, value })),
    ]);
    return pieces.map(({ value }) => value).join("") === text ? pieces : undefined;
  } catch {
    return undefined;
  }
}
