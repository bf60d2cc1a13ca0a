#!/usr/bin/env node
import module from "node:module";
import { tooOld } from "../host/node-version.ts";
import { printVersion } from "./version.ts";

// Asking for the version loads nothing: people and scripts do it all the time.
const first = process.argv[2];
const complaint = tooOld(process.versions.node);
if (first === "--version" || first === "-V") {
  printVersion();
} else if (complaint !== undefined) {
  process.stderr.write(`${complaint}\n`);
  process.exitCode = 1;
} else {
  // Compiled code is kept between starts, which makes the next one quicker.
  module.enableCompileCache();
  const { main } = await import("./main.ts");
  await main(process.argv);
}
