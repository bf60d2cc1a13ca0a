import type { Command } from "commander";
import { VenturiError } from "../core/errors/errors.ts";
import { type Config, loadConfig } from "../host/config/load.ts";
import { shortPath } from "../host/yaml/problem.ts";
import { example, loadOptionsOf } from "./globals.ts";
import { show, showJson } from "./screen.ts";

export function configure(command: Command): void {
  command
    .option("--json", "print the outcome as JSON")
    .addHelpText("after", example("venturi validate", "venturi validate --config staging.yaml --json"))
    .action(async (options: { json?: true }) => {
      try {
        const config = await loadConfig(loadOptionsOf(command));
        if (hasConditions(config)) await (await import("../host/check-conditions.ts")).checkConditions(config);
        show(
          process.stdout,
          options.json ? `${JSON.stringify({ ok: true, ...facts(config) })}\n` : `${sentence(config)}\n`,
        );
      } catch (thrown) {
        if (options.json === undefined || !VenturiError.isInstance(thrown)) throw thrown;
        showJson(process.stdout, JSON.stringify({ ok: false, error: thrown }));
        process.exitCode = thrown.exit;
      }
    });
}

/** Most configurations have none and are validated without loading a tool. */
const hasConditions = ({ tools }: Config): boolean =>
  Object.values(tools).some(({ approval }) => typeof approval === "object");

const sections = ["agents", "models", "providers", "tools", "channels"] as const;

const facts = (config: Config) => ({
  file: shortPath(config.file),
  config: config.hash,
  ...Object.fromEntries(sections.map((section) => [section, Object.keys(config[section])])),
});

function sentence(config: Config): string {
  const counts = sections.map((section) => {
    const count = Object.keys(config[section]).length;
    return `${count} ${count === 1 ? section.slice(0, -1) : section}`;
  });
  return `${shortPath(config.file)} is valid: ${counts.join(", ")} (config ${config.hash})`;
}
