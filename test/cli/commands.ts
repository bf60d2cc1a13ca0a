import { Readable } from "node:stream";
import { useBundle } from "../../src/cli/bundle.ts";

// A process that runs one command after the other, each as in a process of its own: with its environment, folder and exit status, until
// nothing that it began keeps the process alive. The 0.4 s of CPU that loading Venturi takes are paid once.
export interface CommandLine {
  readonly words: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Written to both pipes when it has ended, followed by its exit status. */
  readonly mark: string;
}

useBundle();
const { main } = await import("../../src/cli/main.ts");
const bin = new URL("../../src/cli/bin.js", import.meta.url).pathname;

process.on("disconnect", () => process.exit());
process.on("message", async ({ words, env, cwd, mark }: CommandLine) => {
  for (const name of Object.keys(process.env)) if (env[name] === undefined) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  process.argv = [process.execPath, bin, ...words];
  process.exitCode = undefined;
  Object.defineProperty(process, "stdin", { configurable: true, value: Readable.from([]) });
  const emitters: readonly NodeJS.EventEmitter[] = [process, process.stdout, process.stderr];
  const before = emitters.map(listenersOf);
  const alive = process.getActiveResourcesInfo().length;
  await main(process.argv);
  while (process.getActiveResourcesInfo().length > alive)
    await new Promise((resolve) => setTimeout(resolve, 2).unref());
  for (const [at, emitter] of emitters.entries())
    for (const [name, all] of listenersOf(emitter))
      for (const listener of all.filter((each) => before[at]?.get(name)?.includes(each) !== true)) {
        emitter.removeListener(name, listener);
        if (emitter === process && name === "exit") listener();
      }
  for (const stream of [process.stdout, process.stderr]) stream.write(`${mark}${process.exitCode ?? 0}\n`);
});

function listenersOf(emitter: NodeJS.EventEmitter): Map<string | symbol, readonly (() => void)[]> {
  return new Map(emitter.eventNames().map((name) => [name, emitter.listeners(name) as (() => void)[]])); // called without arguments at an exit
}
