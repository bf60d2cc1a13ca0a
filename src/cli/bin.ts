#!/usr/bin/env node
import { readFileSync } from "node:fs";

// Asking for the version loads nothing: people and scripts do it all the time.
const first = process.argv[2];
if (first === "--version" || first === "-V") {
  const path = new URL("../../../package.json", import.meta.url);
  const { version } = JSON.parse(readFileSync(path, "utf8")) as { version: string };
  process.stdout.write(`${version}\n`);
} else {
  const { main } = await import("./main.ts");
  await main(process.argv);
}
