import { randomUUID } from "node:crypto";
import { closeSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Death } from "../../journal/take-over.ts";

/** A process whose event loop stood still. */
export interface Wedge {
  readonly ms: number;
  /** The run for which it was working, as far as that could be told. */
  readonly run?: string;
  readonly stack?: string;
}

/** What a process had written when it died. */
interface LastRecord {
  /** The run whose plugin was being called. */
  readonly doing?: string;
  readonly wedge?: Wedge;
}

/** Its number in a process that inherits it: after the standard streams, the IPC channel and the socket. */
export const inheritedBox = 5;

const doingSize = 128;
const longest = 32 * 1024;

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
    const bytes = Buffer.alloc(longest);
    const length = readSync(this.fd, bytes, 0, longest, 0);
    const doing = bytes.toString("utf8", 0, Math.min(length, doingSize)).trim();
    const wedge = length > doingSize ? parsed(bytes.toString("utf8", doingSize, length)) : undefined;
    return { ...(doing === "" ? {} : { doing }), ...(wedge === undefined ? {} : { wedge }) };
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

/** Reads and closes the box of a process that has ended by this signal or status. */
export function deathOf(box: BlackBox, signal: string): Death {
  const { doing, wedge } = box.read();
  box.close();
  const run = wedge?.run ?? doing;
  return {
    ...(run === undefined ? {} : { run }),
    at: Date.now(),
    cause: wedge === undefined ? `ended its process (${signal})` : `blocked its process for ${wedge.ms} ms`,
    ...(wedge?.stack === undefined ? {} : { stack: wedge.stack }),
  };
}

function parsed(text: string): Wedge | undefined {
  try {
    return JSON.parse(text) as Wedge; // written by `writeWedge`
  } catch {
    return undefined; // the process died while it wrote
  }
}
