import type { AnyPlugin } from "../core/plugin.ts";

/** A built-in plugin, for tests of plugins that build on one. */
export async function boxPlugin(name: string): Promise<AnyPlugin> {
  const { href } = new URL(`../../plugins/${name}/index.js`, import.meta.url);
  const module = (await import(href)) as { default: AnyPlugin }; // built-in modules export plugins
  return module.default;
}
