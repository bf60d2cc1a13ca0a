import type { InjectionToken } from "tsyringe";
import { Journal } from "../core/journal/journal.ts";
import { ChannelRegistry, ProviderRegistry, ToolRegistry } from "../core/ports/registries.ts";
import { type Lifetime, nameOf, needsOf } from "./build/bindings.ts";
import type { PluginEntry } from "./config/entries.ts";
import type { Config } from "./config/load.ts";
import { bindings } from "./container.ts";

export interface GraphNode {
  readonly token: string;
  readonly lifetime: Lifetime;
  /** The implementing class; absent when supplied or made by a function. */
  readonly by?: string;
  readonly needs: readonly string[];
  /** Config entries it holds, with their plugins. */
  readonly entries?: readonly string[];
}

/** The dependency graph for this config, derived from bindings and constructors. */
export function graphOf(config: Config): GraphNode[] {
  const entries = new Map<InjectionToken, readonly PluginEntry[]>([
    [ProviderRegistry, Object.values(config.providers)],
    [ToolRegistry, Object.values(config.tools)],
    [ChannelRegistry, Object.values(config.channels)],
    [Journal, [config.journal]],
  ]);
  return bindings.map((binding) => {
    const { token, lifetime, use } = binding;
    const held = entries.get(token);
    return {
      token: nameOf(token),
      lifetime,
      ...(use === undefined ? {} : { by: use.name }),
      needs: needsOf(binding).map(nameOf),
      ...(held === undefined ? {} : { entries: held.map(({ name, type }) => `${name} (${type})`) }),
    };
  });
}

export function graphText(nodes: readonly GraphNode[]): string {
  const lines: string[] = [];
  const width = Math.max(...nodes.map(({ token }) => token.length));
  for (const lifetime of ["singleton", "revision", "run"] as const) {
    lines.push(lifetime);
    for (const { token, needs, entries } of nodes.filter((node) => node.lifetime === lifetime)) {
      lines.push(`  ${token.padEnd(width)}${needs.length === 0 ? "" : `  ← ${needs.join(", ")}`}`.trimEnd());
      for (const entry of entries ?? []) lines.push(`    ${entry}`);
    }
  }
  return `${lines.join("\n")}\n`;
}
