import { readFileSync } from "node:fs";

export function ownVersion(): string {
  const path = new URL("../../../../package.json", import.meta.url);
  const { version } = JSON.parse(readFileSync(path, "utf8")) as { version: string }; // Our own file.
  return version;
}
