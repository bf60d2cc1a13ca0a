import type { ServerResponse } from "node:http";
import { performance } from "node:perf_hooks";
import type { Plan } from "./plan.ts";
import { stampNow } from "./stamp.ts";
import type { WireFrame } from "./wire.ts";

export interface Body {
  readonly frames: readonly WireFrame[];
  readonly pace: number;
  readonly plan: Plan;
  /** Set before the simulator itself cuts the connection. */
  readonly ending: { byServer: boolean };
}

const resetPause = 25;

/**
 * Writes a body: everything due in one write, so a pace of 0 is a single one. Returns when all is written or the client has
 * gone; a stalled body returns only then.
 */
export async function deliver(response: ServerResponse, body: Body): Promise<void> {
  const { plan, frames } = body;
  const limit = plan.ending === undefined ? Number.POSITIVE_INFINITY : plan.ending.at(byteLength(frames));
  const writer = new Writer(response, plan.splitting, limit);
  const stall = plan.stall?.(frames.length);
  const last = Math.min(stall ?? frames.length, frames.length);
  if (plan.first > 0 || last === 0 || limit === 0) response.flushHeaders();
  if (plan.first > 0) await writer.wait(plan.first);
  const pause = Math.min(plan.pause?.at(frames.length) ?? last, last);
  await send(writer, { frames, from: 0, to: pause, pace: body.pace });
  if (plan.pause !== undefined && pause < last && !writer.gone && !writer.full) {
    if (pause === 0) response.flushHeaders();
    await writer.wait(plan.pause.ms);
    await send(writer, { frames, from: pause, to: last, pace: body.pace });
  }
  if (writer.gone) return;
  if (writer.full) {
    // A reset discards data the client's kernel has received but the client has not read.
    if (plan.ending?.how === "reset") await writer.wait(resetPause);
    return breakOff(response, body);
  }
  if (stall === undefined) response.end();
  else await writer.closed();
}

interface Stretch {
  readonly frames: readonly WireFrame[];
  readonly from: number;
  readonly to: number;
  readonly pace: number;
}

async function send(writer: Writer, { frames, from, to, pace }: Stretch): Promise<void> {
  if (pace > 0) await paced(writer, frames.slice(from, to), pace);
  else await writer.write(bytesOf(frames, from, to));
}

/** Chunk k is due at k times the pace; a late timer sends everything due by then. */
async function paced(writer: Writer, frames: readonly WireFrame[], pace: number): Promise<void> {
  const start = performance.now();
  let step = 0;
  let next = 0;
  while (next < frames.length && !writer.gone && !writer.full) {
    const due = Math.floor((performance.now() - start) / pace);
    const from = next;
    while (next < frames.length) {
      if (frames[next]?.paced === true) {
        if (step > due) break;
        step++;
      }
      next++;
    }
    if (next > from) await writer.write(bytesOf(frames, from, next));
    if (next < frames.length) await writer.wait(start + step * pace - performance.now());
  }
}

const whole = new WeakMap<readonly WireFrame[], Buffer>();

/** The encoded bytes of some frames; cached when they are all of them. */
function bytesOf(frames: readonly WireFrame[], from: number, to: number): Buffer {
  const all = from === 0 && to === frames.length;
  const known = all ? whole.get(frames) : undefined;
  if (known !== undefined) return known;
  let text = "";
  for (let position = from; position < to; position++) text += frames[position]?.text ?? "";
  const stamped = stampNow(text);
  const bytes = Buffer.from(stamped);
  if (all && stamped === text) whole.set(frames, bytes);
  return bytes;
}

const byteLength = (frames: readonly WireFrame[]): number =>
  frames.reduce((sum, frame) => sum + Buffer.byteLength(frame.text), 0);

function breakOff(response: ServerResponse, { plan, ending }: Body): void {
  const { socket } = response;
  ending.byServer = true;
  if (plan.ending?.how === "cut") response.end();
  else if (plan.ending?.how === "drop") socket?.end();
  else socket?.resetAndDestroy();
}

/** The client's side of a response: how much it still gets, and whether it is connected. */
class Writer {
  #response: ServerResponse;
  #splitting: Plan["splitting"];
  #left: number;
  /** Ends the single pending wait. Racing against a promise for the close would add a reaction per chunk. */
  #wake: (() => void) | undefined;
  gone: boolean;

  constructor(response: ServerResponse, splitting: Plan["splitting"], limit: number) {
    this.#response = response;
    this.#splitting = splitting;
    this.#left = limit;
    this.gone = response.destroyed;
    response.once("close", () => {
      this.gone = true;
      this.#wake?.();
    });
  }

  /** Everything up to the planned end of the body has been written. */
  get full(): boolean {
    return this.#left <= 0;
  }

  /** Resolves when the client has disconnected. */
  closed(): Promise<void> {
    return this.#until(() => {});
  }

  async wait(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await this.#until((done) => {
      timer = setTimeout(done, Math.max(0, ms));
    });
    clearTimeout(timer);
  }

  /** Resolves when the kernel has taken it, so that a later cut comes after it. */
  async write(given: Buffer): Promise<void> {
    const bytes = given.length > this.#left ? given.subarray(0, this.#left) : given;
    this.#left -= bytes.length;
    if (bytes.length === 0) return;
    await this.#until((done) => {
      if (this.#splitting === "none") this.#response.write(bytes, done);
      else writeSplit(this.#response, { bytes, splitting: this.#splitting, done });
    });
  }

  /** Starts something and resolves when it is done or the client has disconnected. */
  #until(start: (done: () => void) => void): Promise<void> {
    if (this.gone) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
      start(resolve);
    });
  }
}

interface Split {
  readonly bytes: Buffer;
  readonly splitting: Plan["splitting"];
  readonly done: () => void;
}

/** Each write is a separate HTTP chunk, which clients deliver one by one whatever TCP does. */
function writeSplit(response: ServerResponse, { bytes, splitting, done }: Split): void {
  let from = 0;
  for (let position = 0; position < bytes.length; position++) {
    if (splitting === "utf8" && (bytes[position] ?? 0) < 0x80 && (bytes[position + 1] ?? 0x80) < 0x80) continue;
    const end = position + 1;
    response.write(bytes.subarray(from, end), end === bytes.length ? done : undefined);
    from = end;
  }
}
