#!/usr/bin/env node
import { enableCompileCache } from "node:module";
import { printVersion } from "./version.ts";

// Asking for the version loads nothing: people and scripts do it all the time.
const first = process.argv[2];
if (first === "--version" || first === "-V") {
  printVersion();
} else {
  // Compiled code is kept between starts, which makes the next one quicker.
  enableCompileCache();
  const { main } = await import("./main.ts");
  await main(process.argv);
}
