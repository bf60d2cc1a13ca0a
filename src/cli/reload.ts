import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { fromJson, VenturiError } from "../core/errors/errors.ts";
import { type Config, loadConfig } from "../host/config/load.ts";
import { isAlive, runningPids } from "../host/system/pid-file.ts";
import { clearReply, type ReloadReply, readReply } from "../host/system/reload-reply.ts";
import { example, loadOptionsOf } from "./globals.ts";
import { show } from "./screen.ts";

/** How long a service may take to rebuild its plugins, ms. */
const patience = 90_000;
const interval = 50;

/** `venturi reload`: makes the running services load their configuration, and prints the outcome of each. */
export function configure(command: Command): void {
  command
    .option(
      "--shadow <last:n>",
      "first replay the last n runs of each agent on the new configuration, and print what differs",
    )
    .option("--require", "with --shadow: do not reload when a score got worse")
    .addHelpText("after", example("venturi reload", "venturi reload --shadow last:200 --require"))
    .action(async ({ shadow, require }: { shadow?: string; require?: true }) => {
      // Shows errors here, where the user looks, and not only in the service's log.
      const load = loadOptionsOf(command);
      const config = await loadConfig(load);
      if (require && shadow === undefined)
        throw new VenturiError(
          "cli.reload",
          "invalid_input",
          "--require: name the runs to replay with --shadow last:N",
        );
      if (shadow !== undefined) {
        const { rehearse } = await import("./rehearse.ts");
        const failures = await rehearse(load, config, shadow);
        if (require && failures.length > 0)
          throw new VenturiError("cli.reload", "conflict", `not reloaded: ${failures.join("; ")}`, {
            details: { failures },
          });
      }
      for (const pid of runningPids(config)) {
        clearReply(config, pid);
        process.kill(pid, "SIGHUP");
        const reply = await replyOf(config, pid);
        clearReply(config, pid);
        tell(pid, reply);
      }
    });
}

async function replyOf(config: Config, pid: number): Promise<ReloadReply> {
  for (let waited = 0; waited < patience; waited += interval) {
    const reply = readReply(config, pid);
    if (reply !== undefined) return reply;
    if (!isAlive(pid)) throw silent(`the service (process ${pid}) ended instead of reloading; see its log`);
    await sleep(interval);
  }
  throw silent(`the service (process ${pid}) has not answered for ${patience / 1_000} s; see its log`);
}

const silent = (message: string): VenturiError => new VenturiError("cli.reload", "unavailable", message);

function tell(pid: number, reply: ReloadReply): void {
  if (!reply.ok)
    throw fromJson({
      ...reply.error,
      err: `the service (process ${pid}) refused it and goes on as before: ${reply.error.err}`,
    });
  const { config, needRestart } = reply;
  const rest = needRestart.length === 0 ? "" : `; changes of ${needRestart.join(", ")} need a restart`;
  show(process.stderr, `the service (process ${pid}) has reloaded: config ${config}${rest}\n`);
}
