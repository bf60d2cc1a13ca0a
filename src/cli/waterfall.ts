import { forOneLine } from "./screen.ts";
import type { SpanNode, SpanTree } from "./span-tree.ts";

export interface WaterfallOptions {
  /** Columns of the terminal. */
  readonly width: number;
  readonly color: boolean;
  /** A line per chunk and append, instead of one for all. */
  readonly everything: boolean;
}

interface Line {
  readonly label: string;
  readonly time: string;
  readonly bar: string;
  readonly color: Color;
}

const widestLabel = 40;
const timeWidth = 10;
const chunk = "venturi.chunk";
const append = "venturi.journal.append";
const numerous = new Set([chunk, append]);
/** Spans beyond these get a line of their own, ms: a slow commit, silence before a chunk, a slow reader. */
const outlier = { commit: 250, gap: 700, stalled: 100 };

/** The spans as a tree with bars to scale, and a time breakdown below it. */
export function waterfall(tree: SpanTree, options: WaterfallOptions): string {
  const labels = Math.min(widestLabel, Math.max(12, Math.floor(options.width * 0.4)));
  const scale = new Scale(Math.max(10, options.width - labels - timeWidth - 3), tree.duration);
  const lines = tree.roots.flatMap((root) =>
    linesOf(root, { branch: "", below: "" }, { scale, everything: options.everything }),
  );
  const paint = options.color ? painted : (text: string) => text;
  const head = `${" ".repeat(labels + timeWidth + 3)}${scale.ruler()}`;
  const body = lines.map(
    ({ label, time, bar, color }) => `${fit(label, labels)} ${time.padStart(timeWidth)}  ${paint(bar, color)}`,
  );
  const ends = tree.roots.flatMap((root) => timingOf(root, options.width));
  return `${[head, ...body, ...(ends.length > 0 ? ["", ...ends] : []), ""].join("\n").replaceAll(/ +$/gm, "")}`;
}

interface Drawing {
  readonly scale: Scale;
  readonly everything: boolean;
}

/** Prefix of a span's label, and of its children's. */
interface Indent {
  readonly branch: string;
  readonly below: string;
}

function linesOf(span: SpanNode, { branch, below }: Indent, drawing: Drawing): Line[] {
  const gap = gapBefore(span);
  const bar =
    gap >= outlier.gap ? drawing.scale.gap(span.start - gap, span.start) : drawing.scale.bar(span.start, span.end);
  const own = {
    label: `${branch}${labelOf(span)}`,
    time: milliseconds(gap >= outlier.gap ? gap : span.end - span.start),
    bar,
    color: colorOf(span),
  };
  const groups = drawing.everything ? span.children.map((child) => [child]) : grouped(span.children);
  const lines = groups.flatMap((group, index) => {
    const last = index === groups.length - 1;
    const first = group[0];
    const [mark, rest] = last ? ["└ ", "  "] : ["├ ", "│ "];
    if (first === undefined) return [];
    if (group.length === 1) return linesOf(first, { branch: below + mark, below: below + rest }, drawing);
    return [together(group, below + mark, drawing.scale)];
  });
  return [own, ...lines];
}

const gapBefore = ({ name, attributes }: SpanNode): number =>
  name === chunk ? Number(attributes["venturi.chunk.gap_ms"] ?? 0) : 0;

const isOutlier = (span: SpanNode): boolean =>
  span.name === append ? span.end - span.start >= outlier.commit : gapBefore(span) >= outlier.gap;

/** Collapses many small spans of one name into a line, at the position of the first; outliers keep theirs. */
function grouped(children: readonly SpanNode[]): SpanNode[][] {
  const groups: SpanNode[][] = [];
  const byName = new Map<string, SpanNode[]>();
  for (const child of children) {
    const collapses = numerous.has(child.name) && !isOutlier(child);
    const group = collapses ? byName.get(child.name) : undefined;
    if (group !== undefined) {
      group.push(child);
      continue;
    }
    const fresh = [child];
    groups.push(fresh);
    if (collapses) byName.set(child.name, fresh);
  }
  return groups;
}

function together(group: readonly SpanNode[], branch: string, scale: Scale): Line {
  const spent = group.reduce((sum, { start, end }) => sum + end - start, 0);
  return {
    label: `${branch}${group.length} × ${shortName(group[0]?.name ?? "")}`,
    time: milliseconds(spent),
    bar: scale.ticks(group.map(({ start }) => start)),
    color: "dim",
  };
}

const shortName = (name: string): string => name.replace(/^venturi\./, "");

function labelOf(span: SpanNode): string {
  const { name, attributes } = span;
  const marks = [
    remarkOf(span),
    name === "venturi.round" ? ` ${attributes["venturi.round.index"]}` : "",
    attributes["venturi.tool.eager"] === true ? " (early)" : "",
    typeof attributes["error.type"] === "string" ? ` ✗ ${attributes["error.type"]}` : "",
    attributes["venturi.cancelled"] === true ? " ✗ cancelled" : "",
  ];
  return `${shortName(name)}${marks.join("")}`;
}

/** What is unusual about a span and not visible in its bar. */
function remarkOf(span: SpanNode): string {
  const { name, attributes, children } = span;
  const stalled = Number(attributes["venturi.deliver.stalled_ms"] ?? 0);
  if (stalled >= outlier.stalled) return ` (stalled ${milliseconds(stalled)})`;
  if (name === append && isOutlier(span)) return " (slow)";
  if (name === chunk && isOutlier(span)) return ` ${attributes["venturi.chunk.index"]} (silence before)`;
  if (name !== "venturi.stream") return "";
  const hidden =
    Number(attributes["venturi.chunks.total"] ?? 0) - children.filter((child) => child.name === chunk).length;
  return hidden > 0 ? ` (${hidden} chunks not kept)` : "";
}

/** The parts of a run's time, largest first. */
function timingOf(root: SpanNode, width: number): string[] {
  const prefix = "venturi.timing.";
  const parts = Object.entries(root.attributes)
    .flatMap(([key, value]) => (key.startsWith(prefix) ? [[key.slice(prefix.length), Number(value)] as const] : []))
    .filter(([, value]) => value > 0)
    .sort(([, left], [, right]) => right - left);
  const sum = parts.reduce((total, [, value]) => total + value, 0);
  if (sum === 0) return [];
  const bars = Math.max(10, Math.min(40, width - 40));
  const lines = parts.map(([part, value]) => {
    const share = value / sum;
    return `  ${forOneLine(part).padEnd(16)}${milliseconds(value).padStart(timeWidth)} ${percent(share)}  ${block(share * bars)}`;
  });
  return [`where the ${milliseconds(sum)} went`, ...lines];
}

const percent = (share: number): string => `${(share * 100).toFixed(0).padStart(3)} %`;

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

function block(cells: number): string {
  const whole = Math.floor(cells);
  return "█".repeat(whole) + (eighths[Math.floor((cells - whole) * 8)] ?? "");
}

class Scale {
  readonly #cells: number;
  readonly #duration: number;

  constructor(cells: number, duration: number) {
    this.#cells = cells;
    this.#duration = Math.max(duration, 0.001);
  }

  ruler(): string {
    const right = milliseconds(this.#duration);
    return `0${right.padStart(this.#cells - 1)}`;
  }

  /** At least one character wide, however short. */
  bar(start: number, end: number): string {
    const from = this.#cell(start);
    const length = ((end - start) / this.#duration) * this.#cells;
    return " ".repeat(from) + (block(Math.min(length, this.#cells - from)) || "▏");
  }

  /** Time during which nothing arrived. */
  gap(start: number, end: number): string {
    const from = this.#cell(start);
    return " ".repeat(from) + "░".repeat(Math.max(1, this.#cell(end) - from));
  }

  ticks(starts: readonly number[]): string {
    const counts = new Array<number>(this.#cells).fill(0);
    for (const start of starts) counts[this.#cell(start)] = (counts[this.#cell(start)] ?? 0) + 1;
    return counts.map((count) => (count === 0 ? " " : count === 1 ? "·" : count < 4 ? "•" : "●")).join("");
  }

  #cell(at: number): number {
    return Math.min(this.#cells - 1, Math.max(0, Math.floor((at / this.#duration) * this.#cells)));
  }
}

export function milliseconds(value: number): string {
  if (value >= 10_000) return `${(value / 1_000).toFixed(1)} s`;
  return value >= 100 ? `${value.toFixed(0)} ms` : value >= 1 ? `${value.toFixed(1)} ms` : `${value.toFixed(2)} ms`;
}

const fit = (label: string, width: number): string => {
  const text = forOneLine(label); // Model and tool names are untrusted.
  return text.length > width ? `${text.slice(0, width - 1)}…` : text.padEnd(width);
};

type Color = "red" | "cyan" | "yellow" | "dim" | "plain";
const codes: Readonly<Record<Color, number>> = { red: 31, cyan: 36, yellow: 33, dim: 2, plain: 0 };
const painted = (text: string, color: Color): string => `\u001b[${codes[color]}m${text}\u001b[0m`;

function colorOf(span: SpanNode): Color {
  const { name, failed } = span;
  if (failed || isOutlier(span)) return "red";
  if (name.startsWith("chat ")) return "cyan";
  return name.startsWith("execute_tool ") ? "yellow" : "plain";
}
