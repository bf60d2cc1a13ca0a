// Makes what is published from what is built: venturi, @venturi/nats and @venturi/postgres, each as a folder in dist/packages.
//   node scripts/pack.mjs [FOLDER [PLACE]]     their tarballs too, into FOLDER; the folders in PLACE instead
// The published venturi has the bundle in place of the modules and packages that it is made of. At the paths of entry points there
// are modules of one line that lead into the bundle; what is not bundled (the client, threads) is copied with what it imports.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, posix, relative, resolve } from "node:path";
import { build } from "esbuild";
import { separate } from "../dist/src/host/plugins/separate.js";
import { contents } from "./bundle.mjs";

const own = JSON.parse(readFileSync("package.json", "utf8"));
/** Found by their path at run time, and hence imported by nobody. */
const roots = [
  "dist/src/cli/bin.js",
  "dist/src/cli/member.js",
  "dist/src/cli/program.js",
  "dist/src/host/watchdog/thread.js",
  "dist/plugins/module/thread.js",
  "dist/plugins/recall-sqlite/thread.js",
  "dist/plugins/simulator/server.js",
  "dist/plugins/sqlite/thread.js",
];
/** Imported by `ws` where they are installed. */
const optional = new Set(["bufferutil", "utf-8-validate"]);
/** For the types of a channel alone. */
const peers = { ...own.peerDependencies, fastify: `^${own.dependencies.fastify}` };
/** What `venturi plugin new` writes into a new package. */
const forNewPlugins = ["@types/mocha", "@types/node", "mocha", "typescript"];

export async function makePackages(place = "dist/packages") {
  rmSync(place, { recursive: true, force: true });
  const folders = [makeRuntime(join(place, "venturi"))];
  for (const name of Object.keys(separate)) folders.push(await makePlugin(name, join(place, name)));
  return folders;
}

/** Writes each folder's tarball and returns their paths. */
export function packAll(folders, destination) {
  return folders.map((folder) => {
    const words = ["pack", resolve(folder), "--silent", "--pack-destination", resolve(destination)];
    const { status, stdout, stderr } = spawnSync("npm", words, { encoding: "utf8" });
    if (status !== 0) throw new Error(stderr);
    return join(resolve(destination), stdout.trim().split("\n").at(-1));
  });
}

function makeRuntime(folder) {
  const copies = new Copies(folder);
  for (const root of [...roots, ...globSync("dist/bundle/late.*.js")]) copies.code(root);
  // With its source map: the watchdog tells in its terms where a process was blocked.
  for (const file of globSync("dist/bundle/program{.,-}*")) copies.asset(file);
  for (const name of boxed()) copies.code(`dist/plugins/${name}/index.js`);
  for (const entry of Object.values(own.exports)) {
    copies.code(posix.normalize(entry.default ?? entry));
    if (entry.types !== undefined) copies.types(posix.normalize(entry.types));
  }
  for (const path of [
    "config",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "dist/bundle/LICENSES.txt",
    "examples/plugins/new",
  ])
    copies.asset(path);
  copies.asset("dist/plugins/channel-console/assets");
  const needed = [...copies.packages].filter((name) => !(name in peers) && !optional.has(name)).sort();
  writePackage(folder, {
    ...pick(own, ["name", "version", "description", "license", "repository", "type", "engines", "bin"]),
    exports: own.exports,
    dependencies: pick(own.dependencies, needed),
    peerDependencies: peers,
    peerDependenciesMeta: Object.fromEntries(Object.keys(peers).map((name) => [name, { optional: true }])),
    devDependencies: pick(own.devDependencies, forNewPlugins),
  });
  const unknown = needed.filter((name) => !(name in own.dependencies));
  if (unknown.length > 0) throw new Error(`the package imports what it does not depend on: ${unknown.join(", ")}`);
  return folder;
}

/** One module, with its dependencies outside and what it shares with the runtime in `venturi/internal`. */
async function makePlugin(name, folder) {
  const from = JSON.parse(readFileSync(`plugins/${name}/package.json`, "utf8"));
  if (from.version !== own.version) throw new Error(`plugins/${name}/package.json has another version than Venturi`);
  await build({
    entryPoints: [`dist/plugins/${name}/index.js`],
    outfile: `${folder}/index.js`,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node22",
    packages: "external",
    plugins: [sharedWithRuntime],
    logLevel: "warning",
  });
  for (const file of ["LICENSE", `plugins/${name}/README.md`])
    cpSync(file, join(folder, file.split("/").at(-1)), { recursive: true });
  writePackage(folder, { ...from, exports: "./index.js", peerDependencies: { venturi: own.version } });
  return folder;
}

const sharedWithRuntime = {
  name: "shared-with-runtime",
  setup({ onResolve }) {
    onResolve({ filter: /\/src\/(?:internal|plugin(?:-\w+)?)\.js$/ }, () => ({
      path: "venturi/internal",
      external: true,
    }));
  },
};

/** Copies modules with everything they import, until an entry point of the bundle. */
class Copies {
  /** Those imported by name. */
  packages = new Set();
  #folder;
  #seen = new Set();
  #bundle = JSON.parse(readFileSync(contents, "utf8"));

  constructor(folder) {
    this.#folder = folder;
  }

  code(file) {
    if (this.#seen.has(file)) return;
    this.#seen.add(file);
    const bundled = `dist/bundle/${relative("dist", file).replaceAll("/", ".")}`;
    if (existsSync(bundled)) return this.#lead(file, bundled);
    const text = readFileSync(file, "utf8");
    this.#write(file, text.replace(/\n\/\/# sourceMappingURL=.*\s*$/, "\n"));
    for (const imported of this.#importsOf(file, text)) this.code(imported);
  }

  types(file) {
    if (this.#seen.has(file)) return;
    this.#seen.add(file);
    const text = readFileSync(file, "utf8");
    this.#write(file, text);
    for (const imported of this.#importsOf(file, text)) this.types(imported.replace(/(?<!\.d)\.[jt]s$/, ".d.ts"));
  }

  asset(path) {
    cpSync(path, join(this.#folder, path), { recursive: true });
  }

  /** A module that is nothing but the bundled one under its own path. */
  #lead(file, bundled) {
    const path = posix.relative(dirname(file), bundled);
    const hasDefault = /\bas default\b|export default\b/.test(readFileSync(bundled, "utf8"));
    this.#write(file, `export * from "${path}";\n${hasDefault ? `export { default } from "${path}";\n` : ""}`);
    this.code(bundled);
  }

  #importsOf(file, text) {
    const known = this.#bundle[file]?.imports; // its code holds programs as texts
    const found = text.replaceAll(/\/\*[\s\S]*?\*\//g, "").matchAll(/(?:\bfrom|\bimport)\s*\(?\s*"([^"\n]+)"/g);
    const all = known?.map(({ path, external }) => (external ? path : `./${posix.relative(dirname(file), path)}`));
    const imports = all ?? [...found].map(([, specifier]) => specifier);
    for (const specifier of imports.filter((each) => !each.startsWith(".") && !isBuiltin(each))) {
      this.packages.add(specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/"));
    }
    return imports.filter((each) => each.startsWith(".")).map((each) => posix.join(dirname(file), each));
  }

  #write(file, text) {
    const path = join(this.#folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

const boxed = () =>
  readdirSync("dist/plugins").filter((name) => !(name in separate) && existsSync(`dist/plugins/${name}/index.js`));

const pick = (from, names) =>
  Object.fromEntries(names.filter((name) => name in from).map((name) => [name, from[name]]));

const writePackage = (folder, description) =>
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(description, null, 2)}\n`);

if (import.meta.main) {
  const [, , destination, place] = process.argv;
  const folders = await makePackages(place);
  if (destination !== undefined) {
    mkdirSync(destination, { recursive: true });
    process.stdout.write(`${packAll(folders, destination).join("\n")}\n`);
  }
}
