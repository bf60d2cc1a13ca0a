// Bundles the console's page into dist/plugins/channel-console/assets: hashed names, compressed once, here.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "esbuild";

const source = "plugins/channel-console/web";
const target = "dist/plugins/channel-console/assets";

export async function bundleConsole() {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const { metafile, outputFiles } = await build({
    entryPoints: { app: `${source}/main.tsx`, style: `${source}/style/main.css` },
    outdir: target,
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    target: "es2024",
    minify: true,
    legalComments: "none",
    jsx: "automatic",
    jsxImportSource: "preact",
    tsconfig: `${source}/tsconfig.json`,
    define: { "process.env.NODE_ENV": '"production"' },
    metafile: true,
    write: false,
    logLevel: "warning",
  });
  for (const { path, contents } of outputFiles) write(basename(path), contents);
  const named = (prefix) => outputFiles.map(({ path }) => basename(path)).find((name) => name.startsWith(prefix));
  const page = readFileSync(`${source}/index.html`, "utf8")
    .replace("{script}", named("app-"))
    .replace("{style}", named("style-"));
  writeFileSync(`${target}/index.html`, page);
  copyFileSync(`${source}/icon.svg`, `${target}/icon.svg`);
  writeFileSync(`${target}/meta.json`, JSON.stringify(firstLoad(metafile)));
}

function write(name, contents) {
  writeFileSync(`${target}/${name}`, contents);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };
  writeFileSync(`${target}/${name}.br`, brotliCompressSync(contents, { params }));
  writeFileSync(`${target}/${name}.gz`, gzipSync(contents, { level: 9 }));
}

/** The scripts that load before the page is usable: the entry and what it imports statically. */
function firstLoad({ outputs }) {
  const entry = Object.keys(outputs).find((path) => basename(path).startsWith("app-"));
  const found = new Set([entry]);
  for (const path of found) {
    for (const each of outputs[path].imports) if (each.kind === "import-statement") found.add(each.path);
  }
  return { firstLoad: [...found].map((path) => basename(path)) };
}

if (import.meta.main) await bundleConsole();
