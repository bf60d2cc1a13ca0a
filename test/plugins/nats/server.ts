import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("../../../../scripts/nats-server.mjs", import.meta.url));

/** The path of a nats-server that is here already, or undefined. */
export function findServer(): string | undefined {
  try {
    return execFileSync(process.execPath, [script, "--find"], { stdio: ["ignore", "pipe", "ignore"] })
      .toString()
      .trim();
  } catch {
    return undefined;
  }
}

export const missing = "skipped: nats-server 2.12.2 or newer not found; npm run test:nats fetches it";
