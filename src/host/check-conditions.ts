import { VenturiError } from "../core/errors/errors.ts";
import { systemClock } from "../core/ports/clock.ts";
import { silentLog } from "../core/ports/log.ts";
import { noTelemetry } from "../core/ports/telemetry.ts";
import { isToolSource } from "../core/ports/tool.ts";
import { Instances } from "./build/instances.ts";
import { checkApproval } from "./build/tools.ts";
import type { Config } from "./config/load.ts";
import { hostContainer } from "./container.ts";

/** Creating these would start a program or connect to a server; their conditions are checked when the service starts. */
const elsewhere = new Set(["mcp"]);

/**
 * Creates tools with conditional approval and refuses conditions on arguments they do not have. A tool that cannot be created here is
 * checked at startup.
 */
export async function checkConditions(config: Config): Promise<void> {
  const asked = Object.values(config.tools).filter(
    ({ approval, type }) => typeof approval === "object" && !elsewhere.has(type),
  );
  if (asked.length === 0) return;
  const runs = () => {
    throw new Error("no runs are started here");
  };
  const container = hostContainer({ config, log: silentLog, clock: systemClock, telemetry: noTelemetry, runs });
  const instances = container.resolve(Instances);
  try {
    for (const entry of asked) {
      const tool = await instances.make("tool", entry).catch((thrown: unknown) => {
        if (VenturiError.is(thrown, "config_invalid")) throw thrown;
        return undefined;
      });
      if (tool !== undefined) checkApproval(entry, isToolSource(tool) ? tool.list() : [tool]);
    }
  } finally {
    await instances.close().catch(() => {}); // Opened only for inspection.
  }
}
