#!/usr/bin/env node
import { printVersion } from "./version.ts";

// Asking for the version loads nothing: people and scripts do it all the time.
const first = process.argv[2];
if (first === "--version" || first === "-V") {
  printVersion();
} else {
  const { main } = await import("./main.ts");
  await main(process.argv);
}
