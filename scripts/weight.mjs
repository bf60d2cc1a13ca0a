// Prints what each dependency costs whoever installs venturi, and why it is there; --write puts the table into docs/packages.md.
// Needs a build. Sizes are of the code in the bundle, or of the files that are installed.
import { lstatSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { separate } from "../dist/src/host/plugins/separate.js";
import { contents } from "./bundle.mjs";
import { makePackages } from "./pack.mjs";

const page = "docs/packages.md";
/** Why it is there, and not something of our own. */
const reasons = {
  "@fastify/cors": "answers browsers of other origins",
  "@fastify/swagger": "makes `/openapi.json` of the routes' schemas",
  "@fastify/websocket": "the WebSocket channel",
  "@marcbachmann/cel-js": "conditions in the configuration, in a language that ends",
  "@agentclientprotocol/sdk": "editors, `venturi acp`",
  "@modelcontextprotocol/client": "tools of MCP servers",
  "@modelcontextprotocol/server": "agents as an MCP server",
  "@nats-io/jetstream": "the journal `nats`",
  "@nats-io/transport-node": "the journal `nats`",
  "@opentelemetry/api": "spans of tools and of Venturi in one trace",
  "@opentelemetry/core": "what the exporters are made of",
  "@opentelemetry/exporter-logs-otlp-proto": "logs to a collector",
  "@opentelemetry/exporter-metrics-otlp-grpc": "its types; loaded only if installed and asked for",
  "@opentelemetry/exporter-metrics-otlp-proto": "metrics to a collector",
  "@opentelemetry/otlp-exporter-base": "sends our own spans as the SDK would",
  "@opentelemetry/otlp-transformer": "encodes resources and scopes",
  "@opentelemetry/resources": "says which host and process a span is of",
  "@opentelemetry/sdk-logs": "the queue of logs",
  "@opentelemetry/sdk-metrics": "reads metrics for a collector",
  "@opentelemetry/sdk-node": "sets OpenTelemetry up by its standard variables",
  "@opentelemetry/sdk-trace": "samplers and span processors",
  aws4fetch: "signatures for Bedrock",
  axios: "the HTTP tool",
  commander: "the command line",
  croner: "the times of schedules",
  fastify: "the HTTP server",
  jose: "checks signed tokens of callers",
  pg: "the journal `postgres`",
  pino: "the log, as lines of JSON",
  re2js: "expressions of users, in linear time",
  "reflect-metadata": "decorators of classes in the container",
  tsyringe: "the container; plugins decorate their classes for the same one",
  undici: "connections to models",
  yaml: "reads the configuration, with places for its mistakes",
  zod: "schemas of options and tools; in the types that plugins and programs see",
};

const own = JSON.parse(readFileSync("package.json", "utf8"));
const lock = JSON.parse(readFileSync("package-lock.json", "utf8")).packages;
const [runtime] = await makePackages();
const published = JSON.parse(readFileSync(join(runtime, "package.json"), "utf8"));
const inPlugin = Object.fromEntries(
  Object.entries(separate).flatMap(([folder, name]) => {
    const { dependencies } = JSON.parse(readFileSync(`plugins/${folder}/package.json`, "utf8"));
    return Object.keys(dependencies)
      .filter((each) => !(each in published.dependencies))
      .map((each) => [each, name]);
  }),
);
const direct = [...Object.keys(own.dependencies), ...Object.keys(inPlugin)].sort();
const bundled = bytesInBundle();

const rows = direct.map((name) => {
  const why = reasons[name];
  if (why === undefined) throw new Error(`${name} has no reason in scripts/weight.mjs`);
  const brought = onlyThrough(name);
  if (inPlugin[name] !== undefined) return [`\`${name}\``, `\`${inPlugin[name]}\``, ...installed(brought), why];
  if (name in published.dependencies) return [`\`${name}\``, "installed", ...installed(brought), why];
  const bytes = brought.reduce((sum, each) => sum + (bundled.get(each) ?? 0), 0);
  const count = brought.filter((each) => bundled.has(each)).length;
  return [`\`${name}\``, count === 0 ? "not shipped" : "bundled", String(count), kilobytes(bytes), why];
});
for (const name of Object.keys(reasons))
  if (!direct.includes(name)) throw new Error(`${name} is no dependency any more`);
const table = lines(["dependency", "how", "packages", "size", "why"], rows);
process.stdout.write(`${table}\n`);
if (process.argv.includes("--write")) {
  const text = readFileSync(page, "utf8");
  const [, before, after] = /^([\s\S]*<!-- npm run weight -->\n)[\s\S]*?(<!-- end -->[\s\S]*)$/.exec(text);
  writeFileSync(page, `${before}\n${table}\n\n${after}`);
}

/** Code in the bundle, by package. */
function bytesInBundle() {
  const sizes = new Map();
  for (const { inputs } of Object.values(JSON.parse(readFileSync(contents, "utf8")))) {
    for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
      const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
      if (name !== undefined && bytesInOutput > 0) sizes.set(name, (sizes.get(name) ?? 0) + bytesInOutput);
    }
  }
  return sizes;
}

/** The dependency and the packages that would go with it. */
function onlyThrough(name) {
  const without = reachable(direct.filter((each) => each !== name));
  return [...reachable([name])].filter((each) => each === name || !without.has(each));
}

function reachable(names) {
  const seen = new Set();
  const visit = (name) => {
    if (seen.has(name) || lock[`node_modules/${name}`] === undefined) return;
    seen.add(name);
    for (const each of Object.keys(lock[`node_modules/${name}`].dependencies ?? {})) visit(each);
  };
  names.forEach(visit);
  return seen;
}

function installed(names) {
  const bytes = names.reduce((sum, each) => sum + onDisk(`node_modules/${each}`), 0);
  return [String(names.length), kilobytes(bytes)];
}

function onDisk(path) {
  const stats = lstatSync(path);
  if (!stats.isDirectory()) return stats.isSymbolicLink() ? 0 : stats.size;
  return readdirSync(path).reduce((sum, name) => sum + onDisk(join(path, name)), 0);
}

function kilobytes(bytes) {
  return `${Math.round(bytes / 1024).toLocaleString("en")} KB`;
}

function lines(head, body) {
  const widths = head.map((_, at) => Math.max(...[head, ...body].map((row) => row[at].length)));
  const line = (row) => `| ${row.map((cell, at) => cell.padEnd(widths[at])).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...body.map(line)].join("\n");
}
