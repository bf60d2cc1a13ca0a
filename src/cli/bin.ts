#!/usr/bin/env node
import module from "node:module";
import { tooOld } from "../host/system/node-version.ts";
import { useBundle } from "./bundle.ts";
import { printVersion } from "./version.ts";

// `--version` loads nothing: people and scripts call it often.
const first = process.argv[2];
const complaint = tooOld(process.versions.node);
if (first === "--version" || first === "-V") {
  printVersion();
} else if (complaint !== undefined) {
  process.stderr.write(`${complaint}\n`);
  process.exitCode = 1;
} else {
  // Caches compiled code, for a faster next start.
  module.enableCompileCache();
  useBundle();
  if (first === "start" && process.env.VENTURI_KEPT === undefined) {
    const { keep, mayBeKept } = await import("./keeper.ts");
    if (mayBeKept(process.argv, process.env)) process.exit(await keep(new URL(import.meta.url), process.argv.slice(2)));
  }
  const { main } = await import("./main.ts");
  await main(process.argv);
}
