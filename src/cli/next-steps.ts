import { readFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import type { Host } from "../host/open.ts";
import { ownCommand } from "./own-command.ts";

/** Next steps for a newcomer, as commands that work as printed. */
export function nextSteps(host: Host, url: string): string {
  const [agent] = host.runs.agents();
  if (agent === undefined) return "\nThere are no agents yet: add one under `agents:` in the config.\n";
  const keyed = host.config.server.auth === undefined ? "" : ` -H "authorization: Bearer $VENTURI_KEY"`;
  const lines = ["", `Venturi is listening on ${url}`, ""];
  const page = consolePath(host);
  if (page !== undefined) lines.push("Watch it in a browser:", `  ${url}${page}/`, "");
  if (host.config.channels.http !== undefined) {
    lines.push(
      "Ask over HTTP, with events as they happen:",
      `  curl -N ${url}/v1/runs${keyed} -H "accept: text/event-stream" -H "content-type: application/json" \\`,
      `    -d '{"agent":"${agent.name}","input":"What time is it in Tokyo, and what is 17 * 23?"}'`,
      "",
    );
  }
  const program = ownCommand();
  lines.push(
    "Ask at the terminal:",
    `  ${program} run ${agent.name} "What is 17 * 23?"${chosen(host)}`,
    `  ${program} chat ${agent.name}${chosen(host)}`,
    "",
  );
  if (host.config.channels.openai !== undefined) {
    lines.push(`OpenAI clients: base URL ${url}/openai/v1, model "${agent.name}"`, "");
  }
  const keys = keysRead(host);
  if (answersFromSimulator(host, agent.name) && keys.length > 0) {
    lines.push(
      "Answers come from the built-in simulator. For a real model set a key and start again:",
      `  ${keys.map((name) => `export ${name}=…`).join("   or   ")}`,
      "",
    );
  }
  return `${lines.join("\n")}\n`;
}

/** URL path of the console, if configured. */
function consolePath({ config: { channels } }: Host): string | undefined {
  const found = Object.entries(channels).find(([name, { type = `channel-${name}` }]) => type === "channel-console");
  if (found === undefined) return undefined;
  const { path = "/console" } = found[1] as { path?: string }; // Checked by the plugin's schema.
  return path;
}

/** The option that makes another command read the same configuration. */
function chosen({ config: { file } }: Host): string {
  if (file === resolve("config/venturi.yaml") || file === resolve(process.env.VENTURI_CONFIG ?? "")) return "";
  const short = relative(process.cwd(), file);
  return ` --config ${short.startsWith("..") ? file : short}`;
}

/** Key variables read by the configuration; others would have no effect. */
function keysRead({ config: { file } }: Host): string[] {
  const names = [...readFileSync(file, "utf8").matchAll(/\$\{env:(\w+_API_KEY)/g)].map(([, name = ""]) => name);
  return [...new Set(names)].slice(0, 3);
}

function answersFromSimulator(host: Host, agent: string): boolean {
  const first = host.revision().agents.get(agent)?.model.targets[0];
  return first !== undefined && host.config.providers[first.provider]?.type === "simulator";
}
