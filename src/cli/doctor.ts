import type { Command } from "commander";
import { examine, type Finding } from "../host/doctor.ts";
import { example, loadOptionsOf } from "./globals.ts";
import { wantsColor } from "./terminal.ts";

/** `venturi doctor`: what would keep the service from working, before it is started. */
export function configure(command: Command): void {
  command
    .option("--json", "one JSON line a finding")
    .addHelpText("after", example("venturi doctor", "venturi doctor --json"))
    .action(async (options: { json?: true }) => {
      let failed = false;
      for await (const finding of examine(loadOptionsOf(command))) {
        failed ||= finding.status === "bad";
        process.stdout.write(options.json ? `${JSON.stringify(finding)}\n` : line(finding));
      }
      if (failed) process.exitCode = 1;
    });
}

const marks = { good: ["✔", 32], note: ["•", 33], bad: ["✗", 31] } as const;

function line({ status, what, found }: Finding): string {
  const [mark, color] = marks[status];
  const painted = wantsColor(process.stdout) ? `\u001b[${color}m${mark}\u001b[0m` : mark;
  return `${painted} ${what.padEnd(22)} ${found}\n`;
}
