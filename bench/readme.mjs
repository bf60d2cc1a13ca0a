// Writes the README's performance section from recorded.json, which `npm run bench:check -- --record --peers` has measured: node bench/readme.mjs
import { readFileSync, writeFileSync } from "node:fs";

const file = (path) => new URL(path, import.meta.url);
const recorded = JSON.parse(readFileSync(file("./recorded.json"), "utf8"));
const [start, end] = ["<!-- performance: node bench/readme.mjs -->", "<!-- /performance -->"];

/** A figure of recorded.json by its row in `bench:check`; the section has only what was measured. */
function cell(name, unit = "×") {
  const value = recorded[name];
  if (value === undefined)
    throw new Error(`recorded.json has no row ${JSON.stringify(name)}: npm run bench:check -- --record --peers`);
  return `${value} ${unit}`;
}

function table(head, rows) {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((cells) => cells[column].length)));
  const line = (cells) => `| ${cells.map((text, column) => text.padEnd(widths[column])).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}

const runs = [
  ["1000 chunks of text", "text"],
  ["a tool call, then 200 chunks of text", "tool"],
  ["a tool call with 1 MB of arguments in fragments of 16 bytes", "arguments"],
];
const sizes = [1, 50, 500];
const row = (title, suffix) => [title, ...sizes.map((size) => cell(`gateway, ${size} streams, ${suffix}`))];

const section = [
  table(
    ["processor time of a run, × a floor written by hand", "Venturi, telemetry off", "AI SDK, no telemetry"],
    runs.map(([title, name]) => [
      title,
      cell(`${name}, beside peers: telemetry off`),
      cell(`${name}, beside peers: AI SDK`),
    ]),
  ),
  table(
    ["processor time of a chunk, × a pass-through that keeps nothing", "1 stream", "50 streams", "500 streams"],
    [
      row("Venturi as an OpenAI gateway, in memory, telemetry off", "telemetry off"),
      row("… every token durable in SQLite, all telemetry", "SQLite and spans"),
      row("a pass-through that stores each chunk in SQLite", "one that stores each chunk"),
      row("Portkey, which keeps nothing", "Portkey"),
    ],
  ),
  `\`npm run bench:check -- --record --peers\` measured these, each figure beside its peers in one call (${recorded.where}), and \`node bench/readme.mjs\` wrote them here.`,
].join("\n\n");

const readme = readFileSync(file("../README.md"), "utf8");
const [from, to] = [readme.indexOf(start), readme.indexOf(end)];
if (from < 0 || to < from) throw new Error(`README.md has no ${start}`);
writeFileSync(file("../README.md"), `${readme.slice(0, from + start.length)}\n\n${section}\n\n${readme.slice(to)}`);
