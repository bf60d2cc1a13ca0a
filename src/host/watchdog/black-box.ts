import { closeSync, mkdtempSync, openSync, readSync, rmdirSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Holder } from "../../core/ports/held.ts";
import type { RequestDoing } from "../../core/values/doing.ts";
import type { Death } from "../../journal/take-over.ts";

/** A process whose event loop was blocked. */
export interface Wedge {
  readonly ms: number;
  /** The run or request it was working for, if known. */
  readonly run?: string;
  readonly request?: RequestDoing;
  readonly stack?: string;
}

/** The black box's content when the process died. */
interface LastRecord {
  /** The run whose plugin was being called. */
  readonly doing?: string;
  readonly wedge?: Wedge;
  /** The largest memory user. */
  readonly holder?: Holder;
}

/** Its descriptor number in a child: after the standard streams, the IPC channel and the socket. */
export const inheritedBox = 5;

const doingSize = 128;
const longest = 32 * 1024;
const holderSize = 512;

/**
 * An unnamed file shared by a process and its supervisor. Written data is in the kernel at once, so it survives an immediate SIGKILL, and
 * no reader needs to be woken.
 */
export class BlackBox {
  readonly fd: number;

  constructor() {
    const folder = mkdtempSync(join(tmpdir(), "venturi-"));
    const path = join(folder, "box");
    try {
      this.fd = openSync(path, "wx+", 0o600);
      unlinkSync(path);
    } finally {
      rmdirSync(folder);
    }
  }

  read(): LastRecord {
    const bytes = Buffer.alloc(longest + holderSize);
    readSync(this.fd, bytes, 0, bytes.length, 0);
    const doing = textAt(bytes, 0, doingSize);
    const wedge = parsed<Wedge>(textAt(bytes, doingSize, longest));
    const holder = parsed<Holder>(textAt(bytes, longest, longest + holderSize));
    return {
      ...(doing === "" ? {} : { doing }),
      ...(wedge === undefined ? {} : { wedge }),
      ...(holder === undefined ? {} : { holder }),
    };
  }

  close(): void {
    closeSync(this.fd);
  }
}

/** Marks the run whose plugin is being called; about 2 µs per call. */
export function markIn(fd: number): (run: string) => void {
  const bytes = Buffer.alloc(doingSize);
  return (run) => {
    bytes.fill(0x20);
    bytes.write(run, 0, doingSize, "utf8");
    writeSync(fd, bytes, 0, doingSize, 0);
  };
}

export function writeWedge(fd: number, wedge: Wedge): void {
  const bytes = Buffer.from(JSON.stringify(wedge));
  writeSync(fd, bytes, 0, Math.min(bytes.length, longest - doingSize), doingSize);
}

/** Records the largest memory user; about 2 µs per call. */
export function writeHolder(fd: number, holder: Holder): void {
  const bytes = Buffer.alloc(holderSize, 0x20);
  bytes.write(JSON.stringify({ ...holder, tenant: holder.tenant.slice(0, 64) }));
  writeSync(fd, bytes, 0, holderSize, longest);
}

/** Reads and closes the box of a process that ended with this signal or status. */
export function deathOf(box: BlackBox, signal: string): Death {
  const { doing, wedge, holder } = box.read();
  box.close();
  const run = wedge?.run ?? doing;
  return {
    ...(run === undefined ? {} : { run }),
    at: Date.now(),
    cause: wedge === undefined ? `ended its process (${signal})` : `blocked its process for ${wedge.ms} ms`,
    ...(wedge?.stack === undefined ? {} : { stack: wedge.stack }),
    ...(wedge?.request === undefined ? {} : { request: wedge.request }),
    // A process that runs out of memory ends by one of these, sent by itself or the kernel.
    ...(wedge === undefined && holder !== undefined && /^SIG(?:ABRT|KILL|TRAP)$/.test(signal) ? { holder } : {}),
  };
}

/** Without the bytes that were never written. */
const textAt = (bytes: Buffer, from: number, to: number): string =>
  bytes.toString("utf8", from, to).replaceAll("\0", "").trim();

function parsed<T>(text: string): T | undefined {
  if (text === "") return undefined;
  try {
    return JSON.parse(text) as T; // Written by the functions above.
  } catch {
    return undefined; // The process died while writing.
  }
}
