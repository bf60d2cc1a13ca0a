import type { Command } from "commander";
import { messageOf } from "../core/errors/errors.ts";
import { type Config, loadConfig } from "../host/config/load.ts";
import { example, loadOptionsOf } from "./globals.ts";
import { show, showJson } from "./screen.ts";

interface Row {
  readonly name: string;
  readonly kind: string;
  readonly from: string;
  readonly version: string;
  /** Config keys that use it. */
  readonly used: readonly string[];
}

export function configure(command: Command): void {
  command
    .option("--all", "also list built-in plugins that the configuration does not use")
    .option("--graph", "print the dependency graph: lifetimes, dependencies, and the entries of each registry")
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("venturi plugins", "venturi plugins --all --json", "venturi plugins --graph"))
    .action(async (options: { all?: true; graph?: true; json?: true }) => {
      const config = await loadConfig(loadOptionsOf(command));
      if (options.graph) {
        const { graphOf, graphText } = await import("../host/graph.ts");
        const nodes = graphOf(config);
        if (options.json) for (const node of nodes) showJson(process.stdout, JSON.stringify(node));
        else show(process.stdout, graphText(nodes));
        return;
      }
      const rows = await listPlugins(config, options.all === true ? "all" : "used");
      if (options.json) for (const row of rows) showJson(process.stdout, JSON.stringify(row));
      else show(process.stdout, table(rows));
    });
}

async function listPlugins(config: Config, which: "all" | "used"): Promise<Row[]> {
  const used = usedBy(config);
  const rows: Row[] = [];
  for (const name of config.loader.names()) {
    const keys = used.get(name) ?? [];
    try {
      // A plugin listed under `plugins:` is loaded whether or not it is used.
      if (which === "used" && keys.length === 0 && config.loader.isInBox(name)) continue;
      const { plugin, from, version } = await config.loader.get(name);
      rows.push({ name, kind: plugin.kind, from, version, used: keys });
    } catch (thrown) {
      show(process.stderr, `${messageOf(thrown)}\n`);
      process.exitCode = 1;
    }
  }
  return rows;
}

function usedBy(config: Config): Map<string, string[]> {
  const used = new Map<string, string[]>();
  for (const section of ["providers", "tools", "guards", "channels"] as const) {
    for (const { name, type } of Object.values(config[section])) {
      used.set(type, [...(used.get(type) ?? []), `${section}.${name}`]);
    }
  }
  return used.set(config.journal.type, ["journal"]);
}

function table(rows: readonly Row[]): string {
  const lines = [["name", "kind", "from", "version", "used by"]];
  for (const row of rows) lines.push([row.name, row.kind, row.from, row.version, row.used.join(" ") || "-"]);
  const widths = [0, 1, 2, 3].map((column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map(
      (line) =>
        `${line
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}
