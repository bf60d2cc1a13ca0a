// Venturi for the side-by-side harness: default export ({ baseURL, variant }) => ({ run(model, hooks) }).
// Variants: venturi (chunk spans, exported over OTLP), venturi-events, venturi-metrics, venturi-off; -resp for the Responses wire.
import { fork } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openVenturi } from "../dist/src/index.js";

const lookup = {
  name: "lookup",
  description: "Looks up the weather.",
  parameters: {
    type: "object",
    properties: {
      city: { type: "string" },
      unit: { type: "string" },
      days: { type: "integer" },
      details: { type: "string" },
      tag: { type: "string" },
      sent: { type: "number" },
      rows: { type: "array", items: {} },
    },
    required: ["city"],
  },
  effect: "pure",
};

/** The tool is called by the runtime, which knows nothing of the harness: the run leads to the hooks. */
const hooksOf = new Map();
const waiting = new Map();
globalThis.venturiBenchTool = { ...lookup, call: ask };

/** A tool may start before the reader has had its first chunk. */
function ask(input, { run }) {
  const hooks = hooksOf.get(run);
  if (hooks) return hooks.tool(input);
  return new Promise((resolve) => waiting.set(run, resolve)).then((late) => late.tool(input));
}

export default async function adapter({ baseURL, variant }) {
  const folder = mkdtempSync(join(tmpdir(), "venturi-bench-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "lookup.mjs"), "export default globalThis.venturiBenchTool;\n");
  const mode = variant.replace(/^venturi-?/, "").replace(/-?resp$/, "");
  const collector = mode === "off" || mode === "metrics" ? undefined : await sink();
  const telemetry =
    mode === "off"
      ? "off"
      : JSON.stringify({
          chunks: mode === "" ? "spans" : mode,
          ...(collector ? { otlp: collector } : {}),
          logs: { level: "error" },
        });
  writeFileSync(
    join(folder, "venturi.yaml"),
    `version: 1
providers: { up: { type: ${variant.endsWith("resp") ? "openai-responses" : "openai"}, apiKey: x, baseUrl: ${JSON.stringify(baseURL)} } }
tools: { lookup: { type: module, path: ./lookup.mjs } }
agents: {}
journal: { type: memory }
channels: {}
telemetry: ${telemetry}
`,
  );
  const configFile = join(folder, "venturi.yaml");
  const hosts = new Map();
  const hostFor = (model) => {
    if (!hosts.has(model)) {
      const set = [
        `agents.bench.model=up/${model}`,
        "agents.bench.instructions=You are helpful.",
        "agents.bench.tools=[lookup]",
      ];
      hosts.set(model, openVenturi({ configFile, set, env: {} }));
    }
    return hosts.get(model);
  };
  return {
    async run(model, hooks) {
      const host = await hostFor(model);
      let text = "";
      let run;
      for await (const chunk of host.agent("bench").streamExecute("go")) {
        if (chunk.content) {
          text += chunk.content;
          hooks.text(chunk.content);
        } else if (run === undefined) {
          run = chunk.metadata.run;
          hooksOf.set(run, hooks);
          waiting.get(run)?.(hooks);
          waiting.delete(run);
        } else if (chunk.err) throw chunk.err;
      }
      hooksOf.delete(run);
      return text;
    },
  };
}

/** A collector in its own process, so that only the exporting side is measured. */
function sink() {
  const child = fork(new URL("./sink.mjs", import.meta.url), { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  process.once("exit", () => child.kill());
  return new Promise((resolve) => {
    child.once("message", (port) => {
      child.unref();
      child.channel?.unref();
      resolve(`http://127.0.0.1:${port}`);
    });
  });
}
