import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { mutants } from "./mutants.ts";

/** Runs every mutant in a process, two at a time, and prints when it was found. The number that was not is the exit status. */
export async function tableOfMutants(seeds: number): Promise<number> {
  const names = Object.keys(mutants);
  const rows = new Map<string, string>();
  const next = names.values();
  const work = async () => {
    for (const name of next) {
      rows.set(name, await found(name, seeds));
      process.stderr.write(`${rows.size} of ${names.length}: ${name}: ${rows.get(name)}\n`);
    }
  };
  await Promise.all([work(), work()]);
  process.stdout.write("| planted fault | in | found |\n| --- | --- | --- |\n");
  for (const name of names) process.stdout.write(`| ${name} | \`${mutants[name]?.file}\` | ${rows.get(name)} |\n`);
  return [...rows.values()].filter((row) => !row.startsWith("seed")).length;
}

function found(name: string, seeds: number): Promise<string> {
  const main = fileURLToPath(new URL("./main.js", import.meta.url));
  const child = spawn(
    process.execPath,
    ["--no-warnings", main, "--mutant", name, "--seeds", String(seeds), "--store", mutants[name]?.store ?? "memory"],
    {
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let text = "";
  let errors = "";
  child.stdout.on("data", (piece: Buffer) => {
    text += piece.toString();
  });
  child.stderr.on("data", (piece: Buffer) => {
    errors += piece.toString();
  });
  return new Promise((resolve) => {
    child.on("close", (code) => {
      const seen = /^seed \d+: .*/m.exec(text)?.[0].replace(/run_\w+/g, "run");
      if (code === 0 && seen !== undefined) resolve(seen);
      // Also one that does not load: it looks like one that is not found.
      else resolve(text.includes(" histories, ") ? `not within ${seeds} seeds` : `exit ${code}: ${errorIn(errors)}`);
    });
  });
}

const errorIn = (text: string): string | undefined => text.split("\n").find((line) => line.includes("Error: "));
