// Bundles the program and the packages it starts with into dist/bundle, from what tsc wrote: a start then reads some fifty files
// instead of 1,200. src/cli/bundle.ts loads them in place of the modules they are made of.
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
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
];
// Shared with plugins of others, who decorate classes for our container; dependencies of plugins that are packages of their own; or optional.
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
    entryPoints: Object.fromEntries(
      modules.map((path) => [path.replace(/\.js$/, "").replaceAll("/", "."), `dist/${path}`]),
    ),
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
    plugins: [ownModules, grpcOnDemand, undiciInParts, namedImports],
    metafile: true,
    // For stacks in the log; not named in the code, so that Node does not look for them.
    sourcemap: "external",
    sourcesContent: false,
    logLevel: "warning",
  });
  writeFileSync(join(target, "LICENSES.txt"), licensesOf(Object.keys(metafile.inputs)));
  writeFileSync(contents, JSON.stringify(metafile.outputs));
}

const ownModules = {
  name: "own-modules",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]dist[\\/](?:src|plugins)[\\/].*\.js$/ }, ({ path }) => {
      const code = readFileSync(path, "utf8");
      // Chunks lie elsewhere than the modules in them, which find files beside themselves.
      const place = `new URL("..${pathToFileURL(path).href.slice(pathToFileURL(resolve("dist")).href.length)}", import.meta.url).href`;
      // Of a decorated class tsc writes the name twice; esbuild would number the second, which is the one that is shown.
      const contents = code
        .replaceAll("import.meta.url", place)
        .replaceAll(/^let (\w+) = class \1\b/gm, "let $1 = class")
        .replaceAll(/^import (\w+|\{[^}]*\}) from ("node:[\w/]+");$/gm, builtin);
      return { contents, loader: "js" };
    });
  },
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
 * The Node SDK imports its gRPC exporters whether they are used or not: 40 packages, and 400 KB to parse at every start. In the
 * bundle they are loaded when they are constructed, from where the user installed them.
 */
const grpcOnDemand = {
  name: "grpc-on-demand",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@opentelemetry\/(?:exporter-\w+-otlp-grpc|otlp-grpc-exporter-base)$/ }, ({ path }) => ({
      path,
      namespace: "grpc",
    }));
    onLoad({ filter: /^/, namespace: "grpc" }, async ({ path }) => {
      const names = Object.keys(await import(path)).filter((name) => name !== "module.exports" && name !== "default");
      const lines = names.map(
        (name) =>
          `export function ${name}(...args) { const real = load("${path}").${name}; return new.target ? Reflect.construct(real, args) : real(...args); }`,
      );
      const contents = [`import { requireGrpc as load } from "./dist/src/telemetry/sdk/grpc.js";`, ...lines].join("\n");
      return { contents, resolveDir: "." };
    });
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
