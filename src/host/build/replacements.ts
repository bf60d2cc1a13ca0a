import type { InjectionToken } from "tsyringe";
import { VenturiError } from "../../core/errors/errors.ts";
import { Journal } from "../../core/journal/journal.ts";
import type { Provider } from "../../core/model/provider.ts";
import { Log } from "../../core/ports/log.ts";
import { ProviderRegistry, type Registry, ToolRegistry } from "../../core/ports/registries.ts";
import { Runs } from "../../core/ports/runs.ts";
import type { Telemetry } from "../../core/ports/telemetry.ts";
import type { Tool } from "../../core/ports/tool.ts";
import { didYouMean } from "../../core/values/suggest.ts";
import type { Provided } from "../../core/values/token.ts";
import type { Config } from "../config/load.ts";
import { nameOf } from "./bindings.ts";

/** Refuses a replacement for a token that nothing looks up. */
export function checkReplacements(replace: readonly Provided[], known: readonly InjectionToken[]): void {
  for (const given of replace) {
    const token: unknown = given?.token;
    if (known.some((each) => each === token)) continue;
    const name = typeof token === "symbol" || typeof token === "function" ? nameOf(token as symbol) : String(token);
    const names = [...new Set(known.map(nameOf))];
    const why = names.includes(name)
      ? `"${name}" in \`replace\` is another token of that name; import it from venturi/plugin`
      : `"${name}" in \`replace\` is no token of the container${didYouMean(name, names)}; it has: ${names.join(", ")}`;
    throw new VenturiError("container.replace", "config_invalid", why, { details: { token: name } });
  }
}

/** Instruments a replacement in the same way as the default. */
export function measuredReplacement({ token, value }: Provided, telemetry: Telemetry, config: Config): unknown {
  switch (token) {
    // A replacement has its token's type.
    case ProviderRegistry:
      return measuredProviders(value as ProviderRegistry, telemetry, config);
    case ToolRegistry:
      return measuredTools(value as ToolRegistry, telemetry);
    case Journal:
      return telemetry.journal(value as Journal);
    case Runs:
      return telemetry.runs(value as Runs);
    case Log:
      return telemetry.log(value as Log);
    default:
      return value;
  }
}

function measuredProviders(registry: ProviderRegistry, telemetry: Telemetry, config: Config): ProviderRegistry {
  const known = new Map<string, { readonly from: Provider; readonly measured: Provider }>();
  return wrapped(registry, (name, from) => {
    const before = known.get(name);
    if (before?.from === from) return before.measured;
    const measured = telemetry.provider(name, config.providers[name]?.type ?? name, from);
    known.set(name, { from, measured });
    return measured;
  });
}

function measuredTools(registry: ToolRegistry, telemetry: Telemetry): ToolRegistry {
  // A tool keeps its identity, which keys the schema cache.
  const known = new WeakMap<Tool, Tool>();
  const measured = (tool: Tool): Tool => {
    const made = known.get(tool) ?? telemetry.tool(tool);
    known.set(tool, made);
    return made;
  };
  return wrapped(registry, (_name, list) => () => list().map(measured));
}

function wrapped<Port>(registry: Registry<Port>, wrap: (name: string, port: Port) => Port): Registry<Port> {
  return {
    names: () => registry.names(),
    get(name) {
      const port = registry.get(name);
      return port === undefined ? undefined : wrap(name, port);
    },
    ...(registry.open === undefined ? {} : { open: async () => registry.open?.() }),
  };
}
