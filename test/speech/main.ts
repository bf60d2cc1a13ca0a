import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "../../src/core/ports/log.ts";
import { openService } from "../../src/host/service.ts";
import { type Heard, Listener } from "../plugins/speech/client.ts";

/**
 * A whole run, heard: agent, tool call, real espeak-ng, WebSocket, a WAV with its transcript, measured with sox. Prints what it
 * measured and fails when a sentence is silent, late or missing.
 */
const has = (program: string) => spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0;
if (!has("espeak-ng") || !has("sox")) {
  console.log("left out: npm run test:speech (espeak-ng and sox are not both here)");
  process.exit(0);
}

const spoken = [
  "Hello, I am the voice of a running agent. ",
  "The file is at https://example.test/a?b=c, version 2.5. ",
  "Let me ask Dr. Watson what the time is. ",
];
const folder = mkdtempSync(join(tmpdir(), "venturi-speech-"));
const configFile = join(folder, "venturi.yaml");
writeFileSync(
  configFile,
  `
version: 1
providers:
  demo:
    type: simulator
    scenarios:
      - name: talk
        turns:
          - { text: ${JSON.stringify(spoken.join(""))}, pace: 30, calls: [{ name: clock, arguments: {} }] }
          - { text: "It is late. Good night!", pace: 30 }
      - name: endless
        turns: [{ text: ${JSON.stringify("This goes on and on, and nobody can stand it. ".repeat(20))}, pace: 20 }]
tools: { clock: { type: clock } }
agents:
  talker: { model: demo/talk, instructions: Talk., tools: [clock] }
  bore: { model: demo/endless, instructions: Talk. }
journal: { type: memory }
channels: { speech: { engine: { type: espeak-ng, voice: en } } }
server: { listen: 127.0.0.1:0 }
telemetry: "off"
`,
);
const service = await openService({ configFile, log: silentLog });
const failures: string[] = [];
try {
  await sentencesAlone();
  await wholeRun();
  await bargeIn();
} finally {
  await service.drain();
  rmSync(folder, { recursive: true, force: true });
}
for (const failure of failures) console.log(`FAILED: ${failure}`);
process.exit(failures.length === 0 ? 0 : 1);

/** How soon a sentence is told, without a voice; the first run of a process compiles what it uses and is not counted. */
async function sentencesAlone(): Promise<void> {
  const waits: number[] = [];
  for (let round = 0; round < 4; round++) {
    const listener = await Listener.connect(`${service.url.replace("http", "ws")}/speech`);
    listener.send({ type: "run", agent: "talker", input: "hello", sentences: true });
    const { message: end } = await listener.message("stream_end");
    const ended = await timesOf(String(end?.run));
    const told = listener.heard.filter(({ message }) => message?.kind === "sentence");
    if (round > 0) waits.push(...told.map(({ at, message }) => at - (ended.get(Number(message?.seq)) ?? 0)));
    listener.close();
  }
  waits.sort((left, right) => left - right);
  const median = waits[Math.floor(waits.length / 2)] ?? 0;
  console.log(`sentence end to its text at the client: ${spread(waits)}`);
  if (median > 20) failures.push(`half of the sentences were told ${median} ms or more after their end was known`);
}

async function timesOf(run: string): Promise<Map<number, number>> {
  const times = new Map<number, number>();
  for await (const batch of service.host.runs.follow(run)) for (const event of batch) times.set(event.seq, event.at);
  return times;
}

function spread(sorted: readonly number[]): string {
  return `median ${sorted[Math.floor(sorted.length / 2)]?.toFixed(1)} ms, worst ${sorted.at(-1)?.toFixed(1)} ms of ${sorted.length} sentences`;
}

async function wholeRun(): Promise<void> {
  const listener = await Listener.connect(`${service.url.replace("http", "ws")}/speech`);
  listener.send({ type: "run", agent: "talker", input: "hello", speech: true });
  const { message: done } = await listener.message("speech_done");
  const run = String(done?.run);
  const ended = await timesOf(run);
  const starts = listener.heard.filter(({ message }) => message?.type === "speech_start");
  const format = starts[0]?.message?.format as { sampleRate: number; channels: number };
  mkdirSync("dist/speech", { recursive: true });
  const raw = join(folder, "run.raw");
  writeFileSync(raw, Buffer.concat(listener.frames));
  const wav = "dist/speech/run.wav";
  const shape = ["-t", "raw", "-r", `${format.sampleRate}`, "-e", "signed", "-b", "16", "-c", `${format.channels}`];
  execFileSync("sox", [...shape, raw, wav]);
  writeFileSync("dist/speech/run.txt", starts.map(({ message }) => String(message?.text).trim()).join("\n"));
  const seconds = Number(execFileSync("soxi", ["-D", wav], { encoding: "utf8" }));
  const loudness = rms(wav, []);
  console.log(
    `${wav}: ${seconds.toFixed(2)} s, ${format.sampleRate} Hz, RMS amplitude ${loudness.toFixed(3)} (sox stat)`,
  );
  if (Math.abs(seconds * 1_000 - Number(done?.ms)) > 50) failures.push(`${seconds} s of WAV, ${done?.ms} ms told`);

  const texts = starts.map(({ message }) => String(message?.text));
  const expected = [...spoken, "It is late. ", "Good night!"];
  if (texts.join("|") !== expected.join("|")) failures.push(`the transcript is ${JSON.stringify(texts)}`);
  let from = 0;
  const late: number[] = [];
  for (const [index, start] of starts.entries()) {
    const end = listener.ofType("speech_end")[index];
    const ms = Number(end?.ms);
    const level = rms(wav, ["trim", `${from / 1_000}`, `${ms / 1_000}`]);
    const first = firstFrameAfter(listener, start);
    const known = ended.get(Number(start.message?.seq)) ?? 0;
    // A sentence that stood in line behind another was not late by its own fault.
    const previous =
      index === 0
        ? 0
        : (listener.heard.find(({ message }) => message === listener.ofType("speech_end")[index - 1])?.at ?? 0);
    const latency = first - Math.max(known, previous);
    late.push(latency);
    console.log(
      `  ${(from / 1_000).toFixed(2).padStart(6)} s  ${String(ms).padStart(5)} ms  RMS ${level.toFixed(3)}  first frame after ${latency.toFixed(1).padStart(5)} ms  ${texts[index]?.trim()}`,
    );
    if (!(level > 0.01)) failures.push(`sentence ${index} is silent`);
    from += ms;
  }
  const sorted = late.toSorted((left, right) => left - right);
  console.log(`sentence end to first audio frame: ${spread(sorted)}`);
  if ((sorted.at(-1) ?? 0) > 500) failures.push(`a sentence was heard ${sorted.at(-1)} ms after its end`);
  beforeTheTool(listener, starts);
  listener.close();
}

/** The last sentence before the call is heard although no sentence follows it. */
function beforeTheTool(listener: Listener, starts: readonly Heard[]): void {
  const call = listener.heard.find(({ message }) => message?.type === "tool_call");
  const before = starts.findIndex(({ message }) => message?.text === spoken.at(-1));
  if (call === undefined || before < 0) failures.push("the tool was not called, or not announced");
}

async function bargeIn(): Promise<void> {
  const listener = await Listener.connect(`${service.url.replace("http", "ws")}/speech`);
  listener.send({ type: "run", agent: "bore", input: "hello", speech: true });
  const { message: start } = await listener.message("speech_start");
  await new Promise((resolve) => setTimeout(resolve, 700)); // a listener's patience
  const asked = performance.timeOrigin + performance.now();
  listener.send({ type: "interrupt", run: start?.run });
  const { at, message } = await listener.message("interrupted");
  const frames = listener.heard.filter((heard) => heard.frame !== undefined && heard.at > at).length;
  const heard = message?.heard as Record<string, number>;
  console.log(
    `barge-in: silent and cancelled ${(at - asked).toFixed(1)} ms after it, ${frames} frames later; heard ${JSON.stringify(heard)}`,
  );
  if (frames > 0) failures.push("audio came after the interruption");
  for await (const batch of service.host.runs.follow(String(start?.run))) {
    const last = batch.at(-1);
    if (last?.type !== "run.failed") continue;
    console.log(`the journal: ${last.error.err} ${JSON.stringify(last.error.details)}`);
    if (JSON.stringify(last.error.details?.heard) !== JSON.stringify(heard))
      failures.push("the journal says something else");
  }
  listener.close();
}

function firstFrameAfter(listener: Listener, start: Heard): number {
  const from = listener.heard.indexOf(start);
  return listener.heard.slice(from).find(({ frame }) => frame !== undefined)?.at ?? Number.NaN;
}

function rms(wav: string, effects: readonly string[]): number {
  const { stderr } = spawnSync("sox", [wav, "-n", ...effects, "stat"], { encoding: "utf8" });
  return Number(/RMS\s+amplitude:\s+([\d.]+)/.exec(stderr)?.[1]);
}
