import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { messageOf, VenturiError, type Voice } from "venturi/plugin";
import { z } from "zod";
import { speakable } from "./speakable.ts";
import { fromWav } from "./wav.ts";

export const EspeakOptions = z.strictObject({
  type: z.literal("espeak-ng"),
  program: z.string().min(1).default("espeak-ng").describe("name or full path of the program"),
  voice: z
    .string()
    .regex(/^[\w][\w+-]*$/)
    .default("en")
    .describe("as `espeak-ng --voices` lists them"),
  speed: z.number().int().min(80).max(450).default(175).describe("words a minute"),
  pitch: z.number().int().min(0).max(99).default(50),
});
type EspeakOptions = z.output<typeof EspeakOptions>;

/** One process per sentence: it starts in a few milliseconds and can be killed. */
export async function espeakVoice(options: EspeakOptions): Promise<Voice> {
  await mustRun(options.program);
  const argv = [
    "-v",
    options.voice,
    "-s",
    `${options.speed}`,
    "-p",
    `${options.pitch}`,
    "-b",
    "1",
    "--stdin",
    "--stdout",
  ];
  return {
    async speak(text, signal) {
      const words = speakable(text);
      if (words === "") return undefined;
      signal.throwIfAborted();
      const child = spawn(options.program, argv, { stdio: ["pipe", "pipe", "pipe"], signal, killSignal: "SIGKILL" });
      child.stdin.on("error", () => {}); // It may exit without reading.
      child.stdin.end(words);
      return await fromWav(output(child));
    },
  };
}

/** The program's output; throws with its stderr when it fails. */
async function* output(child: ChildProcess): AsyncGenerator<Uint8Array> {
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (data: string) => {
    said = (said + data).slice(-500);
  });
  const closed = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  closed.catch(() => {}); // Awaited below, or no longer needed.
  try {
    for await (const chunk of child.stdout ?? []) yield chunk;
    const status = await closed;
    if (status !== 0) throw new Error(`espeak-ng ended with ${status}: ${said.trim()}`);
  } finally {
    child.kill("SIGKILL");
  }
}

async function mustRun(program: string): Promise<void> {
  try {
    const child = spawn(program, ["--version"], { stdio: "ignore" });
    const [status] = await once(child, "close");
    if (status !== 0) throw new Error(`it ended with ${status}`);
  } catch (thrown) {
    const message = `${program} cannot be run: ${messageOf(thrown)}; install espeak-ng, or choose another engine`;
    throw new VenturiError("channel.create", "config_invalid", message, { cause: thrown });
  }
}
