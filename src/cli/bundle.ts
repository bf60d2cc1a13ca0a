import module from "node:module";

const dist = new URL("../../", import.meta.url);
const bundle = new URL("bundle/", dist);

/**
 * From now on loads modules from dist/bundle if they were bundled, also for plugins that import `venturi/plugin`. Not when something is
 * preloaded, debugged or measured: instrumentations patch packages by name, and debuggers and coverage need the sources.
 */
export function useBundle(): void {
  // Not imported: an `import` of it loads fs/promises too, 4 ms of each start.
  const fs = process.getBuiltinModule("node:fs");
  if (isInstrumented() || !isCurrent(fs)) return;
  const bundled = new Set(fs.readdirSync(bundle));
  module.registerHooks({
    resolve(specifier, context, next) {
      const isChunk = specifier.startsWith("./") && context.parentURL?.startsWith(bundle.href) === true;
      if (isChunk) return { url: bundle.href + specifier.slice(2), format: "module", shortCircuit: true };
      const found = next(specifier, context);
      const name = found.url.startsWith(dist.href) ? found.url.slice(dist.href.length).replaceAll("/", ".") : "";
      // The program's modules are in one script, into which those in files of their own lead; the same tsyringe is in it.
      const file = [`program.${name}`, name].find((each) => bundled.has(each));
      if (file !== undefined) return { ...found, url: bundle.href + file };
      const isOurs =
        specifier === "tsyringe" && found.url === next(specifier, { ...context, parentURL: bundle.href }).url;
      return isOurs ? { ...found, url: `${bundle.href}program.tsyringe.js`, format: "module" } : found;
    },
  });
}

function isInstrumented(): boolean {
  const words = [...process.execArgv, ...(process.env.NODE_OPTIONS ?? "").split(/\s+/)];
  const wanted = /^(?:--import|--require|-r|--loader|--experimental-loader|--inspect\S*|--enable-source-maps)(?:=|$)/;
  return words.some((word) => wanted.test(word)) || process.env.NODE_V8_COVERAGE !== undefined;
}

/** Whether the bundle is at least as new as tsc's output. A published package has no tsc build record. */
function isCurrent({ existsSync, statSync }: typeof import("node:fs")): boolean {
  if (!existsSync(bundle)) return false;
  const compiled = new URL(".tsbuildinfo", dist);
  return !existsSync(compiled) || statSync(compiled).mtimeMs <= statSync(bundle).mtimeMs;
}
