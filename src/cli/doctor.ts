import type { Command } from "commander";
import { examine } from "../host/doctor.ts";
import type { Finding } from "../host/doctor-processes.ts";
import { example, loadOptionsOf } from "./globals.ts";
import { type Shown, show, showJson, styled, wantsColor } from "./screen.ts";

/** `venturi doctor`: what would prevent the service from working, before it is started. */
export function configure(command: Command): void {
  command
    .option("--deep", "ask each agent's models for one word, which costs a few tokens")
    .option("--json", "print one JSON line per finding")
    .addHelpText("after", example("venturi doctor", "venturi doctor --deep", "venturi doctor --json"))
    .action(async (options: { json?: true; deep?: true }) => {
      let failed = false;
      for await (const finding of examine({ ...loadOptionsOf(command), ...(options.deep ? { deep: true } : {}) })) {
        failed ||= finding.status === "bad";
        if (options.json) showJson(process.stdout, JSON.stringify(finding));
        else show(process.stdout, ...line(finding));
      }
      if (failed) process.exitCode = 1;
    });
}

const marks = { good: ["✔", "green"], note: ["•", "yellow"], bad: ["✗", "red"] } as const;

function line({ status, what, found }: Finding): Shown[] {
  const [mark, color] = marks[status];
  return [wantsColor(process.stdout) ? styled(color, mark) : mark, ` ${what.padEnd(22)} ${found}\n`];
}
