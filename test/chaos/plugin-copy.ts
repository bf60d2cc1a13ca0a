import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export interface PluginCopy {
  readonly type: string;
  readonly folder: string;
  /** What a config's `plugins` names. */
  readonly path: string;
  remove(): void;
}

/** In this file of the plugin, this text becomes that one. */
export type Cut = readonly [file: "sql" | "schema" | "item" | "standing", from: string, to: string];

/** A plugin of the box under another name, with parts of its text replaced. */
export function pluginCopy(plugin: string, name: string, cuts: readonly Cut[]): PluginCopy {
  const source = fileURLToPath(new URL(`../../plugins/${plugin}`, import.meta.url));
  const folder = fileURLToPath(new URL(`./${name}`, import.meta.url));
  cpSync(source, folder, { recursive: true });
  const path = `${folder}/index.js`;
  // The build has plugins of the box import the API by its place, which is one folder further from here.
  for (const file of globSync(`${folder}/**/*.js`)) {
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replaceAll(/ from "((?:\.\.\/)+)src\//g, ' from "../$1src/'));
  }
  replace(path, `name: "${plugin}"`, `name: "${name}"`);
  for (const [file, from, to] of cuts) replace(`${folder}/${file}.js`, from, to);
  return { type: name, folder, path, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function replace(file: string, from: string, to: string): void {
  const text = readFileSync(file, "utf8");
  if (!text.includes(from)) throw new Error(`${file} no longer has: ${from}`);
  writeFileSync(file, text.replaceAll(from, to));
}
