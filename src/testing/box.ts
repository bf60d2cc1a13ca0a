import type { AnyPlugin } from "../core/plugin.ts";

/** A plugin of the box, for tests of plugins that build upon one. */
export async function boxPlugin(name: string): Promise<AnyPlugin> {
  const { href } = new URL(`../../plugins/${name}/index.js`, import.meta.url);
  const module = (await import(href)) as { default: AnyPlugin }; // the box holds nothing but plugins
  return module.default;
}
