// Bundles everything with the packages it needs into dist/bundle, from what tsc wrote, twice: as ES modules for programs that import
// venturi, and as one script for our own, of which src/cli/program.ts keeps the compiled code. A start reads one file instead of 1,200.
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import "reflect-metadata";
import tsyringe from "tsyringe";

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
/** Large packages that few starts need, and only by `import()`: the script takes them from the modules. */
const onlyLater = ["axios", "undici", "@modelcontextprotocol/client", "@modelcontextprotocol/client/stdio"];
const lateName = (name) => `late.${name.replaceAll("/", ".")}`;
const container = ["tsyringe", "reflect-metadata"];
// Shared with plugins of others, who decorate classes for our container; dependencies of plugins that are separate packages; or optional.
const external = [...container, "pg", "@nats-io/*", "bufferutil", "utf-8-validate"];
// What CommonJS code expects.
const banner = `import { createRequire as requireOf } from "node:module";
const require = requireOf(import.meta.url), { filename: __filename, dirname: __dirname } = import.meta;`;

const common = {
  outdir: target,
  bundle: true,
  platform: "node",
  target: "node22",
  minifyWhitespace: true,
  legalComments: "none",
  external,
  // The same code, of an older Node.
  alias: { "readable-stream": "node:stream" },
  metafile: true,
  // For stacks in the log; not named in the code, so that Node does not look for them.
  sourcemap: "external",
  sourcesContent: false,
  logLevel: "warning",
};

export async function bundleProgram() {
  rmSync(target, { recursive: true, force: true });
  const modules = [...entries, ...globSync("plugins/*/index.js", { cwd: "dist" })].map((path) =>
    path.replaceAll("\\", "/"),
  );
  const late = Object.fromEntries(onlyLater.map((name) => [lateName(name), name]));
  const { metafile } = await build({
    ...common,
    entryPoints: { ...Object.fromEntries(modules.map((path) => [nameOf(path), `dist/${path}`])), ...late },
    splitting: true,
    format: "esm",
    banner: { js: banner },
    plugins: [ownModules("import.meta.url"), lessAtStart, onDemand, undiciInParts, zodInEnglish, namedImports],
  });
  const inScript = modules.filter((path) => !path.endsWith("/thread.js") && path !== "src/cli/keeper.js");
  await bundleScript(inScript);
  for (const path of inScript) leadIntoScript(nameOf(path), metafile.outputs[`${target}/${nameOf(path)}.js`].exports);
  leadIntoScript("tsyringe", [...Object.keys(tsyringe), "default"]);
  writeFileSync(join(target, "LICENSES.txt"), licensesOf(Object.keys(metafile.inputs)));
  writeFileSync(contents, JSON.stringify(metafile.outputs));
}

/** A function of what it needs, which puts a function for each module into `module.exports`. */
async function bundleScript(modules) {
  const lines = modules.map((path) => `"${nameOf(path)}.js": () => require("./${path}"),`);
  lines.push('"tsyringe.js": () => require("tsyringe"),');
  await build({
    ...common,
    external: external.filter((name) => !container.includes(name)),
    stdin: { contents: `module.exports = {${lines.join("\n")}};`, resolveDir: "dist", sourcefile: "program.cjs" },
    entryNames: "program-[hash]",
    outExtension: { ".js": ".cjs" },
    format: "cjs",
    banner: { js: "(function (module, require, __filename, __dirname, __url, __import) {" },
    footer: { js: "})" },
    plugins: [ownModules("__url"), inLateModules, lessAtStart, onDemand, undiciInParts, zodInEnglish, namedImports],
  });
  const [script] = globSync(`${target}/program-*.cjs`);
  if (/[^\0-\x7f]/.test(readFileSync(script, "utf8")))
    throw new Error(`${script} is read as ASCII, but has other characters`);
}

const nameOf = (path) => path.replace(/\.js$/, "").replaceAll("/", ".");

/** Writes a module into which others' imports of it lead, with the same exports. */
function leadIntoScript(name, exports) {
  const names = exports.filter((each) => each !== "default");
  const lines = [
    `import { fromProgram } from "../src/cli/program.js";`,
    `const all = fromProgram("${name}.js");`,
    `export const { ${names.join(", ")} } = all;`,
    ...(names.length < exports.length ? ["export default all.default ?? all;"] : []),
  ];
  writeFileSync(join(target, `program.${name}.js`), `${lines.join("\n")}\n`);
}

/** `here` is the file of the bundle that the code comes into. */
const ownModules = (here) => ({
  name: "own-modules",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]dist[\\/](?:src|plugins)[\\/].*\.js$/ }, ({ path }) => {
      const code = readFileSync(path, "utf8");
      // Chunks lie elsewhere than the modules in them, which find files beside themselves.
      const place = `new URL("..${pathToFileURL(path).href.slice(pathToFileURL(resolve("dist")).href.length)}", ${here}).href`;
      // Of a decorated class tsc writes the name twice; esbuild would number the second, which is the one that is shown.
      const contents = code
        .replaceAll(/new URL\("\.\/([\w-]+\.js)", import\.meta\.url\)|import\.meta\.url/g, (found, name) => {
          const entry = name && entryOf(path, name);
          return entry ? `new URL("./${entry}", ${here})` : found.replace("import.meta.url", place);
        })
        .replaceAll(/^let (\w+) = class \1\b/gm, "let $1 = class")
        .replaceAll(/^import (\w+|\{[^}]*\}) from ("node:[\w/]+");$/gm, builtin);
      if (here !== "__url") return { contents, loader: "js" };
      // What is imported by its place may be in the script.
      return { contents: inAscii(contents.replaceAll("import(__rewrite", "__import(__rewrite")), loader: "js" };
    });
  },
});

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

/** The script is read as ASCII, and esbuild leaves regular expressions as they are. */
const inAscii = (code) =>
  code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

const inLateModules = {
  name: "in-late-modules",
  setup({ onResolve }) {
    onResolve({ filter: /^[@a-z]/ }, ({ path, kind, importer }) =>
      kind === "dynamic-import" && onlyLater.includes(path) && !isConnections(importer)
        ? { path: `./${lateName(path)}.js`, external: true }
        : undefined,
    );
  },
};

/** Node adds it to what a CommonJS package exports. */
const isOwnName = (name) => name !== "module.exports";

const isConnections = (importer) => /[\\/]provider[\\/]http[\\/]connections\.js$/.test(importer);

/** Of undici a provider needs connections: neither fetch, WebSockets, caches and mocks, nor HTTP/2, which is off by default. */
const undiciInParts = {
  name: "undici-in-parts",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^undici$/ }, ({ importer }) =>
      isConnections(importer) ? { path: "connections", namespace: "undici" } : undefined,
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
      const isImported = kind === "dynamic-import" || (kind === "entry-point" && onlyLater.includes(path));
      const isOurs = !isImported || path.startsWith("node:") || path.startsWith("venturi/");
      return isOurs || isExternal(path) ? undefined : { path, namespace: "named" };
    });
    onLoad({ filter: /^/, namespace: "named" }, async ({ path }) => {
      const names = Object.keys(await import(path)).filter(isOwnName);
      return { contents: `export { ${names.join(", ")} } from "${path}";`, resolveDir: "." };
    });
  },
};

/**
 * What packages would do at every start that we do not use: load HTTP/2 and TLS, make a function of code for each part of a path, and look
 * up who calls them, for which V8 counts the lines of the whole script.
 */
const lessAtStart = {
  name: "less-at-start",
  setup({ onLoad }) {
    const change = (filter, ...changes) =>
      onLoad({ filter }, ({ path }) => {
        let code = readFileSync(path, "utf8");
        for (const [from, to] of changes) {
          if (code.search(from) < 0) throw new Error(`${path} has no ${from} any more`);
          code = code.replace(from, to);
        }
        return { contents: code, loader: "js" };
      });
    const late = (name) => [
      [new RegExp(`^const ${name} = (require\\('(?:node:)?${name}'\\));?$`, "m"), ""],
      [new RegExp(`(?<= )${name}\\.(?=create|request)`, "g"), `require("${name}").`],
    ];
    change(/[\\/]fastify[\\/]lib[\\/]server\.js$/, ...late("https"), ...late("http2"));
    change(/[\\/]cel-js[\\/]lib[\\/]functions\.js$/, [/(?<=ns\|us\|)µ(?=s\|)/, "\\u00b5"]);
    change(/[\\/]pino[\\/]pino\.js$/, [/(?<=^const caller = )require\('\.\/lib\/caller'\)$/m, "() => []"]);
    change(/[\\/]ws[\\/]lib[\\/]websocket\.js$/, ...late("https"));
    change(
      /[\\/]find-my-way[\\/]lib[\\/]node\.js$/,
      [/(?<=^const LONG_PREFIX_MIN_LENGTH = )16$/m, "2"],
      [/path\.indexOf\(prefix, i\) === i/, "path.startsWith(prefix, i)"],
    );
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
