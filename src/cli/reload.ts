import type { Command } from "commander";
import { loadConfig } from "../host/config/load.ts";
import { runningPid } from "../host/pid-file.ts";
import { example, loadOptionsOf } from "./globals.ts";
import { show } from "./screen.ts";

export function configure(command: Command): void {
  command.addHelpText("after", example("venturi reload")).action(async () => {
    // What is wrong is told here, where someone is looking, and not only in the service's log.
    const config = await loadConfig(loadOptionsOf(command));
    const pid = runningPid(config);
    process.kill(pid, "SIGHUP");
    show(process.stderr, `asked the service (process ${pid}) to reload; its log says how it went\n`);
  });
}
