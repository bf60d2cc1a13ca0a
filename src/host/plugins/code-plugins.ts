import { z } from "zod";
import { VenturiError } from "../../core/errors/errors.ts";
import { type AnyPlugin, definePlugin } from "../../core/ports/plugin.ts";
import type { CodeConfig } from "./code.ts";

/** Wraps tools and providers that a program passes in code as plugins. */
export function codePlugins({ tools, providers }: Pick<CodeConfig, "tools" | "providers">): readonly AnyPlugin[] {
  const tool = definePlugin({
    name: "code",
    kind: "tool",
    description: "A tool of the program",
    options: z.strictObject({}),
    create: async (_options, context) => {
      const made = await tools.get(context.name)?.(context);
      if (made === undefined) throw missing(context.name);
      return { list: () => [made] }; // A list, because tools with the same name in two agents have separate keys.
    },
  });
  const provider = definePlugin({
    name: "code-provider",
    kind: "provider",
    description: "A provider of the program",
    options: z.strictObject({}),
    create: (_options, { name }) => providers.get(name) ?? fail(name),
  });
  return [tool as AnyPlugin, provider as AnyPlugin]; // Each plugin's options are checked by its own schema.
}

const missing = (name: string): VenturiError =>
  new VenturiError("plugin.create", "plugin_failed", `the program defines no "${name}"`);

function fail(name: string): never {
  throw missing(name);
}
