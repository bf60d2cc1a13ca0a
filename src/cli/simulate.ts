import type { Command } from "commander";
import { VenturiError } from "../core/errors/errors.ts";
import { example } from "./globals.ts";
import { show } from "./screen.ts";

const op = "cli.simulate";

interface Flags {
  readonly port: string;
  readonly host: string;
  readonly scenario: readonly string[];
  readonly seed: string;
  readonly pace: string;
  readonly fault: readonly string[];
}

/** What is used here of the simulator's API. It is a plugin, so it is loaded at run time instead of imported. */
interface Face {
  startSimulator(options: {
    port: number;
    host: string;
    seed: number;
    pace: number;
    scenarios: readonly string[];
    faults: string;
    keep: number;
  }): Promise<{ url: string; port: number; close(): Promise<void> }>;
}

export function configure(command: Command): void {
  command
    .option("--port <number>", "port to listen on; 0 takes a free one", "8089")
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--scenario <file...>", "scenario files (YAML)", [])
    .option("--seed <number>", "same seed, same requests, same bytes", "1")
    .option("--pace <ms>", "milliseconds between words", "15")
    .option("--fault <fault...>", "faults to inject into every request, such as rate-limit=50~0.2", [])
    .addHelpText("after", example("venturi simulate --port 8089 --pace 5 --fault rate-limit=50~0.2"))
    .action(simulate);
}

async function simulate(flags: Flags): Promise<void> {
  const options = {
    port: numberOf("--port", flags.port),
    host: flags.host,
    seed: numberOf("--seed", flags.seed),
    pace: numberOf("--pace", flags.pace),
    scenarios: flags.scenario,
    faults: flags.fault.join(","),
    keep: 0,
  };
  const { startSimulator } = (await import(new URL("../../plugins/simulator/server.js", import.meta.url).href)) as Face;
  const simulator = await startSimulator(options);
  show(process.stdout, `${simulator.url}\n`);
  show(process.stderr, `the simulator listens on ${simulator.url}; try it:\n  ${curlLine(simulator.url)}\n`);
  await firstSignal();
  await simulator.close();
}

function numberOf(flag: string, value: string): number {
  const number = Number(value);
  if (value.trim() !== "" && Number.isFinite(number) && number >= 0) return number;
  throw new VenturiError(op, "invalid_input", `${flag} takes a number, not "${value}"`);
}

const curlLine = (url: string): string =>
  `curl -N ${url}/v1/chat/completions -d '{"model":"small","stream":true,"messages":[{"role":"user","content":"hello"}]}'`;

/** A signal is the normal end of this command, so it exits with 0. */
function firstSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once("SIGINT", resolve);
    process.once("SIGTERM", resolve);
  });
}
