import { Command } from "commander";
import { wrap } from "../core/errors.ts";

/** A command of the command line. Its module is loaded only when it is called. */
interface Entry {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<{ configure(command: Command): void }>;
}

const entries: readonly Entry[] = [
  {
    name: "decode",
    summary: "decode recorded provider streams, one JSON line a file",
    load: () => import("./decode.ts"),
  },
  {
    name: "simulate",
    summary: "a model server without a model, for demos and tests",
    load: () => import("./simulate.ts"),
  },
];

export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command("venturi")
    .description("A plugin-based agent runtime that streams, journals and measures every token.")
    .option("--config <file>", "the configuration file", "config/venturi.yaml")
    .option("--set <path=value...>", "override a value of the configuration")
    .showHelpAfterError("(venturi --help lists the commands)");
  const called = entries.find((entry) => argv.slice(2).includes(entry.name));
  for (const entry of entries) {
    const command = program.command(entry.name).description(entry.summary);
    if (entry === called) (await entry.load()).configure(command);
  }
  try {
    await program.parseAsync(argv);
  } catch (thrown) {
    const error = wrap("cli.run", thrown);
    process.stderr.write(`${error}\n`);
    process.exitCode = error.exit;
  }
}
