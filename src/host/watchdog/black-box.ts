import { randomUUID } from "node:crypto";
import { closeSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Holder } from "../../core/ports/held.ts";
import type { RequestDoing } from "../../core/values/doing.ts";
import type { Death } from "../../journal/take-over.ts";

/** A process whose event loop stood still. */
export interface Wedge {
  readonly ms: number;
  /** The run or the request for which it was working, as far as that could be told. */
  readonly run?: string;
  readonly request?: RequestDoing;
  readonly stack?: string;
}

/** What a process had written when it died. */
interface LastRecord {
  /** The run whose plugin was being called. */
  readonly doing?: string;
  readonly wedge?: Wedge;
  /** Who held most of its memory. */
  readonly holder?: Holder;
}

/** Its number in a process that inherits it: after the standard streams, the IPC channel and the socket. */
export const inheritedBox = 5;

const doingSize = 128;
const longest = 32 * 1024;
const holderSize = 512;

/**
 * A file without a name that a process and its supervisor share. What the process writes there is in the kernel's hands at once,
 * so it survives a SIGKILL in the next instruction, and nobody is woken to read it.
 */
export class BlackBox {
  readonly fd: number;

  constructor() {
    const path = join(tmpdir(), `venturi-${process.pid}-${randomUUID()}`);
    this.fd = openSync(path, "wx+", 0o600);
    unlinkSync(path);
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

/** Marks the run whose plugin is being called: about 2 µs each time. */
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

/** Notes who holds most of this process's memory: about 2 µs each time. */
export function writeHolder(fd: number, holder: Holder): void {
  const bytes = Buffer.alloc(holderSize, 0x20);
  bytes.write(JSON.stringify({ ...holder, tenant: holder.tenant.slice(0, 64) }));
  writeSync(fd, bytes, 0, holderSize, longest);
}

/** Reads and closes the box of a process that has ended by this signal or status. */
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
    // A process that ran out of memory ends by one of these, its own or the kernel's.
    ...(wedge === undefined && holder !== undefined && /^SIG(?:ABRT|KILL|TRAP)$/.test(signal) ? { holder } : {}),
  };
}

/** Without what was never written. */
const textAt = (bytes: Buffer, from: number, to: number): string =>
  bytes.toString("utf8", from, to).replaceAll("\0", "").trim();

function parsed<T>(text: string): T | undefined {
  if (text === "") return undefined;
  try {
    return JSON.parse(text) as T; // written by the functions above
  } catch {
    return undefined; // the process died while it wrote
  }
}
