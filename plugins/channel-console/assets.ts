import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { VenturiError } from "venturi/plugin";

export interface Asset {
  readonly type: string;
  readonly plain: Buffer;
  readonly br?: Buffer;
  readonly gzip?: Buffer;
}

const types: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/** The bundled page, which the build put next to this file. Held in memory: it is small, and no request can name a path. */
export function readAssets(
  path: string,
  settings: Readonly<Record<string, string>> = {},
): { page: Asset; files: ReadonlyMap<string, Asset> } {
  const folder = fileURLToPath(new URL("./assets/", import.meta.url));
  if (!existsSync(folder)) {
    const message = "the console's page has not been built; `npm run build` does it";
    throw new VenturiError("channel.mount", "plugin_failed", message);
  }
  const files = new Map<string, Asset>();
  const names = readdirSync(folder);
  for (const name of names) {
    const type = types[/\.(\w+)$/.exec(name)?.[1] ?? ""];
    if (type === undefined) continue;
    const compressed = (ending: string) =>
      names.includes(name + ending) ? readFileSync(folder + name + ending) : undefined;
    const [br, gzip] = [compressed(".br"), compressed(".gz")];
    files.set(name, {
      type,
      plain: readFileSync(folder + name),
      ...(br === undefined ? {} : { br }),
      ...(gzip === undefined ? {} : { gzip }),
    });
  }
  const template = files.get("index.html")?.plain.toString() ?? "";
  files.delete("index.html");
  const metas = Object.entries(settings).map(
    ([name, value]) => `<meta name="venturi-${name}" content="${escaped(value)}">\n`,
  );
  const plain = Buffer.from(template.replaceAll("{path}", path).replace("{settings}", () => metas.join("")));
  return { page: { type: types.html ?? "", plain }, files };
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
