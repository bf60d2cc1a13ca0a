import type { Command } from "commander";
import { loadConfig } from "../host/config/load.ts";
import { runningPids } from "../host/system/pid-file.ts";
import { example, loadOptionsOf } from "./globals.ts";
import { show } from "./screen.ts";

export function configure(command: Command): void {
  command.addHelpText("after", example("venturi reload")).action(async () => {
    // Errors are shown here, where the user looks, and not only in the service's log.
    const config = await loadConfig(loadOptionsOf(command));
    for (const pid of runningPids(config)) {
      process.kill(pid, "SIGHUP");
      show(process.stderr, `asked the service (process ${pid}) to reload; see its log for the result\n`);
    }
  });
}
