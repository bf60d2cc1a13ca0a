import { readFileSync } from "node:fs";

export function printVersion(): void {
  const path = new URL("../../../package.json", import.meta.url);
  const { version } = JSON.parse(readFileSync(path, "utf8")) as { version: string }; // our own file
  process.stdout.write(`${version}\n`);
}
