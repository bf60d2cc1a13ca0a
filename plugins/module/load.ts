import { stat } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { messageOf, type Tool, VenturiError } from "venturi/plugin";
import { z } from "zod";

type OwnTool = Omit<Tool, "name">;

/** The tool exported by a file. A changed file is loaded again, so a config reload picks the change up. */
export async function loadTool(file: string, name: string): Promise<OwnTool> {
  const module = await importFresh(file);
  if (!Object.hasOwn(module, name)) {
    const exported = Object.keys(module).join(", ") || "nothing";
    throw invalid(file, `has no export "${name}"; it exports ${exported}`);
  }
  return checked(file, name, module[name]);
}

async function importFresh(file: string): Promise<Record<string, unknown>> {
  const changed = await stat(file).then(
    (stats) => stats.mtimeMs,
    () => {
      throw invalid(file, "does not exist");
    },
  );
  try {
    // Modules are cached by URL: the modification time gives a changed file a new one.
    return (await import(`${pathToFileURL(file).href}?changed=${changed}`)) as Record<string, unknown>;
  } catch (thrown) {
    if (isTakenForCommonJs(thrown)) {
      throw invalid(
        file,
        'is an ES module that Node takes for CommonJS; name it .mjs, or put "type": "module" into its package.json',
      );
    }
    throw new VenturiError("tool.create", "plugin_failed", `${file} cannot be loaded: ${messageOf(thrown)}`, {
      cause: thrown,
    });
  }
}

const isTakenForCommonJs = (thrown: unknown): boolean =>
  thrown instanceof SyntaxError &&
  /Cannot use import statement outside a module|Unexpected token 'export'/.test(thrown.message);

const effects = ["pure", "idempotent", "effectful"];

function checked(file: string, name: string, value: unknown): OwnTool {
  const where = `export "${name}"`;
  if (typeof value !== "object" || value === null) {
    throw invalid(file, `${where} is not an object { description, input, effect, call }`);
  }
  const { input, ...rest } = value as { readonly input?: unknown };
  const tool: Partial<Record<keyof OwnTool, unknown>> = input === undefined ? value : { ...rest, parameters: input };
  if (typeof tool.call !== "function") throw invalid(file, `${where} needs call(input, context)`);
  if (typeof tool.description !== "string" || tool.description.trim() === "") {
    throw invalid(file, `${where} needs a description that tells the model when to use it`);
  }
  if (!isSchema(tool.parameters)) throw invalid(file, `${where} needs input: a zod object or a JSON Schema of one`);
  if (tool.effect !== undefined && !effects.includes(String(tool.effect))) {
    throw invalid(file, `${where} has effect "${String(tool.effect)}"; use ${effects.join(", ")}`);
  }
  return tool as OwnTool; // Each member was checked above.
}

function isSchema(value: unknown): boolean {
  if (value instanceof z.ZodType) return value instanceof z.ZodObject;
  return typeof value === "object" && value !== null && "type" in value && value.type === "object";
}

const invalid = (file: string, message: string) =>
  new VenturiError("tool.create", "config_invalid", `${file} ${message}`);
