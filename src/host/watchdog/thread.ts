import { workerData } from "node:worker_threads";
import { type Wedge, writeWedge } from "./black-box.ts";
import { writeLine } from "./line.ts";
import type { Watched } from "./watchdog.ts";

const { beats, tick, wedged, box, textLog } = workerData as Watched; // Passed by `startWatchdog`.
const counter = new Int32Array(beats);
/** Silence after which the stack is logged, ms. */
const suspicious = Math.min(2_000, wedged / 2);
/** How long to wait for the stack, ms: a long native call such as JSON.parse cannot be interrupted, so it has none. */
const patience = 1_000;

let seen = Atomics.load(counter, 0);
let silent = 0;
let looked = performance.now();
let isTold = false;
let isEnding = false;

setInterval(() => {
  const now = performance.now();
  // Capped: a suspended machine or process was not blocked.
  const passed = Math.min(now - looked, 2 * tick);
  looked = now;
  const count = Atomics.load(counter, 0);
  if (count !== seen) {
    seen = count;
    silent = 0;
    isTold = false;
    return;
  }
  silent += passed;
  if (isEnding) return;
  if (silent >= wedged) {
    isEnding = true;
    void end();
  } else if (silent >= suspicious && !isTold) {
    isTold = true;
    void tell();
  }
}, tick);

async function tell(): Promise<void> {
  const wedge = await look();
  await write("warn", "the process is blocked; this is what it does", wedge);
}

async function end(): Promise<void> {
  const wedge = await look();
  if (Atomics.load(counter, 0) !== seen) {
    isEnding = false; // The loop continues after all.
    return;
  }
  try {
    if (box !== undefined) writeWedge(box, wedge);
    await write("error", "the process was blocked for too long (server.wedged); it ends itself", wedge);
  } finally {
    process.kill(process.pid, "SIGKILL");
  }
}

async function look(): Promise<Wedge> {
  const ms = Math.round(silent);
  const text = await asked().catch(() => undefined);
  if (text === undefined) return { ms };
  const { stack, ...doing } = JSON.parse(text) as Omit<Wedge, "ms">; // Produced by `answer`.
  const readable = stack === undefined ? undefined : await cleaned(stack).catch(() => stack);
  return { ms, ...doing, ...(readable === undefined ? {} : { stack: readable }) };
}

/** V8 serves the inspector inside loops and regular expression backtracking, typically within 20 ms. */
async function asked(): Promise<string | undefined> {
  const { Session } = await import("node:inspector");
  const session = new Session();
  session.connectToMainThread();
  try {
    return await new Promise((resolve) => {
      setTimeout(() => resolve(undefined), patience);
      const expression = 'globalThis[Symbol.for("venturi.doing")]()';
      session.post("Runtime.evaluate", { expression, returnByValue: true }, (_error, answer) => {
        const value: unknown = answer?.result?.value;
        resolve(typeof value === "string" ? value : undefined);
      });
    });
  } finally {
    // An open session would delay the exit.
    session.disconnect();
  }
}

/** Imported only when needed, to keep the thread small. */
async function cleaned(stack: string): Promise<string> {
  const [{ Redactor }, { inSources }] = await Promise.all([
    import("../../telemetry/wrappers/redact.ts"),
    import("./in-sources.ts"),
  ]);
  const frames = stack.split("\n").filter((line) => line.startsWith("    at ") && !line.includes("at <anonymous>:1:"));
  return new Redactor([]).text(frames.map((line) => inSources(line.trim())).join("\n"), 4_096);
}

const write = (level: "warn" | "error", message: string, { ms, run, request, stack }: Wedge): Promise<void> =>
  writeLine({ textLog }, level, { silentMs: ms, run, ...request, stack, message });
