// Bundles the program and the packages it starts with into dist/bundle, from what tsc wrote: a start then reads some fifty files
// instead of 1,200. src/cli/bundle.ts loads them in place of the modules they are made of.
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const target = "dist/bundle";
/** What each file of the bundle is made of and imports. */
export const contents = "dist/bundle.json";
/** Modules that are imported from outside of the bundle, and hence keep a name: "src/cli/main.js" is src.cli.main.js. */
const entries = [
  "src/cli/keeper.js",
  "src/cli/main.js",
  "src/cli/serve-member.js",
  "src/doors/venturi.js",
  "src/doors/plugin.js",
  "src/doors/plugin-channel.js",
  "src/doors/plugin-provider.js",
  "src/doors/testing.js",
  "src/doors/simulator.js",
  "src/host/watchdog/thread.js",
  "src/internal.js",
  "plugins/simulator/server.js",
  "plugins/sqlite/thread.js",
];
// Shared with plugins of others, who decorate classes for our container; dependencies of plugins that are separate packages; or optional.
const external = ["tsyringe", "reflect-metadata", "pg", "@nats-io/*", "bufferutil", "utf-8-validate"];
// What CommonJS code expects.
const banner = `import { createRequire as requireOf } from "node:module";
const require = requireOf(import.meta.url), { filename: __filename, dirname: __dirname } = import.meta;`;

export async function bundleProgram() {
  rmSync(target, { recursive: true, force: true });
  const modules = [...entries, ...globSync("plugins/*/index.js", { cwd: "dist" })].map((path) =>
    path.replaceAll("\\", "/"),
  );
  const { metafile } = await build({
    entryPoints: Object.fromEntries(modules.map((path) => [nameOf(path), `dist/${path}`])),
    outdir: target,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node22",
    minifyWhitespace: true,
    legalComments: "none",
    banner: { js: banner },
    external,
    // The same code, of an older Node.
    alias: { "readable-stream": "node:stream" },
    plugins: [ownModules, onDemand, undiciInParts, zodInEnglish, namedImports],
    metafile: true,
    // For stacks in the log; not named in the code, so that Node does not look for them.
    sourcemap: "external",
    sourcesContent: false,
    logLevel: "warning",
  });
  writeFileSync(join(target, "LICENSES.txt"), licensesOf(Object.keys(metafile.inputs)));
  writeFileSync(contents, JSON.stringify(metafile.outputs));
}

const nameOf = (path) => path.replace(/\.js$/, "").replaceAll("/", ".");

const ownModules = {
  name: "own-modules",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]dist[\\/](?:src|plugins)[\\/].*\.js$/ }, ({ path }) => {
      const code = readFileSync(path, "utf8");
      // Chunks lie elsewhere than the modules in them, which find files beside themselves.
      const place = `new URL("..${pathToFileURL(path).href.slice(pathToFileURL(resolve("dist")).href.length)}", import.meta.url).href`;
      // Of a decorated class tsc writes the name twice; esbuild would number the second, which is the one that is shown.
      const contents = code
        .replaceAll(/new URL\("\.\/([\w-]+\.js)", import\.meta\.url\)|import\.meta\.url/g, (found, name) => {
          const entry = name && entryOf(path, name);
          return entry ? found.replace(name, entry) : found.replace("import.meta.url", place);
        })
        .replaceAll(/^let (\w+) = class \1\b/gm, "let $1 = class")
        .replaceAll(/^import (\w+|\{[^}]*\}) from ("node:[\w/]+");$/gm, builtin);
      return { contents, loader: "js" };
    });
  },
};

/** Threads are started from the bundle too. */
const entryOf = (path, name) => {
  const module = relative("dist", join(dirname(path), name)).replaceAll("\\", "/");
  return entries.includes(module) ? `${nameOf(module)}.js` : undefined;
};

/**
 * An `import` of a builtin reads all that it exports, and so loads what Node itself loads on demand: with `node:http` a WebSocket and
 * with it fetch, with `node:crypto` the Web Crypto API.
 */
const builtin = (_, names, name) => `const ${names.replaceAll(" as ", ": ")} = process.getBuiltinModule(${name});`;

/** Of undici a provider needs connections: neither fetch, WebSockets, caches and mocks, nor HTTP/2, which is off by default. */
const undiciInParts = {
  name: "undici-in-parts",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^undici$/ }, ({ importer }) =>
      /[\\/]provider[\\/]http[\\/]connections\.js$/.test(importer)
        ? { path: "connections", namespace: "undici" }
        : undefined,
    );
    onLoad({ filter: /^/, namespace: "undici" }, () => ({
      contents: `export { default as Agent } from "undici/lib/dispatcher/agent.js";
export { default as Pool } from "undici/lib/dispatcher/pool.js";
export { default as ProxyAgent } from "undici/lib/dispatcher/proxy-agent.js";`,
      resolveDir: ".",
    }));
    onLoad({ filter: /[\\/]undici[\\/]lib[\\/]dispatcher[\\/]client\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replace(/(?<=const connectH2 = )require\(\S+\)/, "(...args) => $&(...args)"),
      loader: "js",
    }));
  },
};

/**
 * Loaded when one of their functions or classes is first used. The Node SDK imports its gRPC exporters whether they are used or not: 40
 * packages, and 400 KB to parse at every start; they come from where the user installed them. CEL registers its operators when it is
 * loaded, and most configurations have no condition.
 */
const onDemand = {
  name: "on-demand",
  setup({ onResolve, onLoad }) {
    const grpc = /^@opentelemetry\/(?:exporter-\w+-otlp-grpc|otlp-grpc-exporter-base)$/;
    onResolve({ filter: grpc }, ({ path }) => ({ path, namespace: "grpc" }));
    onResolve({ filter: /^@marcbachmann\/cel-js$/ }, ({ path, kind }) =>
      kind === "import-statement" ? { path, namespace: "late" } : undefined,
    );
    onLoad({ filter: /^/, namespace: "grpc" }, ({ path }) =>
      stub(
        path,
        `import { requireGrpc } from "./dist/src/telemetry/sdk/grpc.js"; const load = () => requireGrpc("${path}");`,
      ),
    );
    onLoad({ filter: /^/, namespace: "late" }, ({ path }) => stub(path, `const load = () => require("${path}");`));
  },
};

async function stub(path, load) {
  const all = Object.entries(await import(path));
  const names = all.filter(
    ([name, value]) => typeof value === "function" && !["module.exports", "default"].includes(name),
  );
  const lines = names.map(
    ([
      name,
    ]) => `export function ${name}(...args) { const real = load().${name}; return new.target ? Reflect.construct(real, args) : real(...args); }
Object.defineProperty(${name}, Symbol.hasInstance, { value: (one) => one instanceof load().${name} });`,
  );
  return { contents: [load, ...lines].join("\n"), resolveDir: "." };
}

/** Messages are English: 70 other languages are 260 KB to read at every start. */
const zodInEnglish = {
  name: "zod-in-english",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
      resolveDir: "node_modules/zod/v4/locales",
    }));
  },
};

/** `import()` of a CommonJS package has its named exports in Node, but not in esbuild. */
const namedImports = {
  name: "named-imports",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[@a-z]/ }, ({ path, kind }) => {
      const isOurs = kind !== "dynamic-import" || path.startsWith("node:") || path.startsWith("venturi/");
      return isOurs || isExternal(path) ? undefined : { path, namespace: "named" };
    });
    onLoad({ filter: /^/, namespace: "named" }, async ({ path }) => {
      const names = Object.keys(await import(path)).filter((name) => name !== "module.exports");
      return { contents: `export { ${names.join(", ")} } from "${path}";`, resolveDir: "." };
    });
  },
};

const isExternal = (path) => external.some((name) => path === name || path.startsWith(`${name.replace(/\/\*$/, "")}/`));

/** Of each package in the bundle. */
function licensesOf(inputs) {
  const folders = new Set(
    inputs.map((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]).filter(Boolean),
  );
  const texts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const [file] = globSync(join(folder, "{LICENSE,LICENCE,license,License}*"));
    return `${name} ${version} (${license})\n\n${file === undefined ? "" : readFileSync(file, "utf8").trim()}\n`;
  });
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}

if (import.meta.main) await bundleProgram();
