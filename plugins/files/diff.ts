import { failure } from "./content.ts";

/** A passage to find and its replacement. */
interface Hunk {
  /** Lines to skip to first, from `@@ class Door`. */
  readonly anchors: string[];
  readonly lines: { readonly sign: " " | "+" | "-"; readonly text: string }[];
  /** The passage must end at the end of the file. */
  atEnd: boolean;
}

/** The content of a new file: a diff of added lines only. */
export function createdBy(diff: string): string {
  const lines = linesOf(diff).map((line) => {
    if (!line.startsWith("+")) throw failure('each line of a new file\'s diff begins with "+"');
    return line.slice(1);
  });
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

/**
 * Applies a diff in the format of OpenAI's apply_patch: hunks after `@@`, lines prefixed with " ", "+" or "-", no line numbers.
 * Each passage is searched for after the previous one; only trailing whitespace may differ. Lines that stay keep their own ends.
 */
export function updatedBy(text: string, diff: string): string {
  const ends = text.match(/\r?\n/g) ?? [];
  const ending = ends.filter((end) => end === "\r\n").length * 2 > ends.length ? "\r\n" : "\n";
  const old = text.split(/\r?\n/);
  const endsWithNewline = old.at(-1) === "";
  if (endsWithNewline) old.pop();
  const kept = (at: number) => `${old[at]}${ends[at] ?? ending}`;
  const result: string[] = [];
  let cursor = 0;
  const keepUpTo = (at: number) => {
    while (cursor < at) result.push(kept(cursor++));
  };
  for (const hunk of hunksOf(diff)) {
    const from = hunk.anchors.reduce((at, anchor) => lineAfter(old, anchor, at), cursor);
    const wanted = hunk.lines.filter(({ sign }) => sign !== "+").map(({ text }) => text);
    const at = wanted.length === 0 ? insertionPoint(old, hunk, from) : positionOf(old, wanted, { from, hunk });
    keepUpTo(at);
    for (const { sign, text: line } of hunk.lines) {
      if (sign === "+") result.push(`${line}${ending}`);
      else if (sign === "-") cursor++;
      else keepUpTo(cursor + 1);
    }
  }
  keepUpTo(old.length);
  const whole = result.join("");
  return endsWithNewline ? whole : whole.replace(/\r?\n$/, "");
}

function hunksOf(diff: string): Hunk[] {
  const hunks: Hunk[] = [];
  const next = (): Hunk => {
    const hunk: Hunk = { anchors: [], lines: [], atEnd: false };
    hunks.push(hunk);
    return hunk;
  };
  for (const line of linesOf(diff)) {
    const open = hunks.at(-1);
    if (line === "*** End of File" && open !== undefined) open.atEnd = true;
    else if (line.startsWith("@@")) {
      const anchor = line.slice(2).trim();
      const hunk = open === undefined || open.lines.length > 0 ? next() : open;
      if (anchor !== "") hunk.anchors.push(anchor);
    } else (open ?? next()).lines.push(signed(line));
  }
  if (!hunks.some((hunk) => hunk.lines.some(({ sign }) => sign !== " "))) throw failure("the diff changes nothing");
  return hunks;
}

function signed(line: string): Hunk["lines"][number] {
  const sign = line[0] ?? " "; // Models omit the space of an empty context line.
  if (sign !== " " && sign !== "+" && sign !== "-") {
    throw failure(
      `a line of the diff begins with none of " ", "+", "-" and "@@": ${JSON.stringify(line.slice(0, 60))}`,
    );
  }
  return { sign, text: line.slice(1) };
}

function lineAfter(lines: readonly string[], anchor: string, from: number): number {
  const at = lines.findIndex((line, index) => index >= from && line.trim() === anchor);
  if (at < 0)
    throw failure(`the line ${JSON.stringify(anchor)} after "@@" is not in the file, or not behind the last change`);
  return at + 1;
}

/** Pure additions go after the anchor, or at the end. */
const insertionPoint = (lines: readonly string[], hunk: Hunk, from: number): number =>
  hunk.anchors.length === 0 || hunk.atEnd ? lines.length : from;

function positionOf(
  lines: readonly string[],
  wanted: readonly string[],
  { from, hunk }: { readonly from: number; readonly hunk: Hunk },
): number {
  const same = [(line: string) => line, (line: string) => line.trimEnd()];
  for (const form of same) {
    const matches = (at: number) => wanted.every((line, offset) => form(lines[at + offset] ?? "\0") === form(line));
    const last = lines.length - wanted.length;
    if (hunk.atEnd && last >= from && matches(last)) return last;
    for (let at = from; at <= last && !hunk.atEnd; at++) if (matches(at)) return at;
  }
  throw failure(`the passage that begins with ${JSON.stringify(wanted[0])} is not in the file; read it again`);
}

const linesOf = (diff: string): string[] => {
  const lines = diff.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
};
