import { createRequire } from "node:module";

export function ownVersion(): string {
  const { version } = createRequire(import.meta.url)("../../../../package.json") as { version: string }; // Our own file.
  return version;
}
