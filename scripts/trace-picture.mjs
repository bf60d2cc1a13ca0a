// A picture of a trace, from the OTLP JSON that Jaeger's API or `venturi trace RUN --json` gives:
//   JAEGER_TRACE_FILE=trace.json npm run test:jaeger && node scripts/trace-picture.mjs < trace.json > trace.svg
import { text } from "node:stream/consumers";
import { spanTree } from "../dist/src/cli/span-tree.js";

const tree = spanTree(JSON.parse(await text(process.stdin)));
const [width, labels, rowHeight, top] = [1280, 330, 19, 64];
const shownChunks = 6;
const rows = tree.roots.flatMap((root) => [...rowsOf(root, 0)]);
const height = top + rows.length * rowHeight + 16;
const x = (at) => labels + (at / tree.duration) * (width - labels - 90);

process.stdout.write(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#fff"/>
<text x="12" y="22" font-size="15" font-weight="bold">${escaped(tree.roots[0]?.name)}</text>
<text x="12" y="42" fill="#666">trace ${tree.traceIds[0]} · ${count(tree.roots)} spans · ${tree.duration.toFixed(1)} ms · from Jaeger's /api/v3</text>
${[0, 0.25, 0.5, 0.75, 1].map((part) => grid(part)).join("\n")}
${rows.map(draw).join("\n")}
</svg>
`);

/** Many chunks and appends are shown by their first few and one row for the rest. */
function* rowsOf(span, depth) {
  yield { span, depth };
  const seen = new Map();
  const rest = new Map();
  for (const child of span.children) {
    const number = (seen.get(child.name) ?? 0) + 1;
    seen.set(child.name, number);
    const carries = child.children.length > 0;
    const limit = child.name === "venturi.journal.append" ? 2 : shownChunks;
    if (/^venturi\.(chunk|journal\.append)$/.test(child.name) && number > limit && !carries) {
      rest.set(child.name, [...(rest.get(child.name) ?? []), child]);
    } else yield* rowsOf(child, depth + 1);
  }
  for (const [name, group] of rest) yield { group, name, depth: depth + 1 };
}

function draw({ span, group, name, depth }, index) {
  const y = top + index * rowHeight;
  const label = span === undefined ? `${group.length} more ${name}` : title(span);
  const bars = (group ?? [span]).map((each) => bar(each, y)).join("");
  const time =
    span === undefined ? "" : `<text x="${x(span.end) + 6}" y="${y + 13}" fill="#666">${duration(span)}</text>`;
  const stripe = index % 2 === 0 ? `<rect x="0" y="${y}" width="${width}" height="${rowHeight}" fill="#f6f7f9"/>` : "";
  return `${stripe}<text x="${12 + depth * 16}" y="${y + 13}">${escaped(label)}</text>${bars}${time}`;
}

function bar(span, y) {
  const wide = Math.max(1.5, x(span.end) - x(span.start));
  return `<rect x="${x(span.start).toFixed(1)}" y="${y + 4}" width="${wide.toFixed(1)}" height="${rowHeight - 8}" rx="2" fill="${color(span.name)}"/>`;
}

function grid(part) {
  const at = labels + part * (width - labels - 90);
  const line = `<line x1="${at}" x2="${at}" y1="${top - 8}" y2="${height - 10}" stroke="#dde"/>`;
  return `${line}<text x="${at + 3}" y="${top - 10}" fill="#889">${(tree.duration * part).toFixed(0)} ms</text>`;
}

function title({ name, attributes }) {
  const kind = attributes["venturi.chunk.kind"];
  const early = attributes["venturi.tool.eager"]
    ? ` (${Math.round(attributes["venturi.tool.saved_ms"])} ms early)`
    : "";
  const index = attributes["venturi.chunk.index"] ?? attributes["venturi.round.index"];
  return `${name}${index === undefined ? "" : ` ${index}`}${kind === undefined ? "" : ` ${kind}`}${early}`;
}

function color(name) {
  if (name.startsWith("chat")) return "#2f9e8f";
  if (name.startsWith("execute_tool")) return "#e08a2b";
  if (name === "venturi.chunk") return "#5b8def";
  if (name === "venturi.accumulate") return "#8e6bd6";
  if (name === "venturi.journal.append") return "#9aa5b1";
  return name.startsWith("venturi.deliver") ? "#c8679b" : "#4a5568";
}

function count(spans) {
  return spans.reduce((sum, span) => sum + 1 + count(span.children), 0);
}

function duration({ start, end }) {
  const ms = end - start;
  return ms < 1 ? `${(ms * 1000).toFixed(0)} µs` : `${ms.toFixed(1)} ms`;
}

function escaped(value) {
  return String(value ?? "").replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
