import { existsSync } from "node:fs";
import { VenturiError } from "../core/errors/errors.ts";
import type { AnyPlugin } from "../core/ports/plugin.ts";

/** A built-in plugin, for tests of plugins that build on one. */
export async function boxPlugin(name: string): Promise<AnyPlugin> {
  const place = new URL(`../../plugins/${name}/index.js`, import.meta.url);
  if (!existsSync(place)) {
    throw new VenturiError(
      "test.plugin",
      "not_found",
      `no plugin "${name}" is built in; \`venturi plugins\` lists them`,
    );
  }
  const module = (await import(place.href)) as { default: AnyPlugin }; // Built-in modules export plugins.
  return module.default;
}
