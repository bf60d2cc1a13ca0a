import type { SendHandle } from "node:child_process";
import type { OpenOptions } from "../host/open.ts";
import type { Refused } from "../host/watchdog/strikes.ts";

/** Passed to a kept service when it starts. */
export interface Kept {
  /** File descriptor of its black box. */
  readonly box: number;
  /** The listening socket, from the second start on. */
  readonly socket?: { readonly fd: number; readonly url: string };
  /** Requests that blocked earlier processes; to be refused. */
  readonly refused?: readonly Refused[];
  /** The process it replaces. */
  readonly before?: NonNullable<OpenOptions["before"]>;
  /** Number of restarts so far. */
  readonly restarts?: number;
}

/** Messages from the service to its keeper. */
export interface KeptSays {
  readonly listening?: {
    readonly url: string;
    /** Its worker's name. */
    readonly worker: string;
    readonly wedged: number;
    readonly textLog: boolean;
  };
  readonly alive?: true;
}

/** Messages from the keeper to the service. */
export interface KeeperSays {
  readonly signal?: KeptSignal;
  readonly ask?: "alive";
}

/** Signals that the keeper forwards. From a terminal or service manager they also reach the service directly, where they are ignored. */
export const keptSignals = ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR2"] as const;
export type KeptSignal = (typeof keptSignals)[number];

const variable = "VENTURI_KEPT";

/** Environment variables for the service's process. */
export const keptEnv = (kept: Kept): Readonly<Record<string, string>> => ({ [variable]: JSON.stringify(kept) });

export const isKept = (): boolean => kept !== undefined;

/** Read once and removed, so that programs started by tools do not inherit it. */
const kept: Kept | undefined = (() => {
  const text = process.env[variable];
  delete process.env[variable];
  return text === undefined || process.send === undefined ? undefined : (JSON.parse(text) as Kept); // Written by `keptEnv`.
})();

export const ownKept = (): Kept | undefined => kept;

/** The pid known to people and service managers. */
export const servicePid = (): number => (isKept() ? keeper : process.pid);

const keeper = process.ppid;

/** A keeper that dies before taking the socket leaves a channel that never closes, so check the parent's pid. */
export const isKeeperGone = (): boolean => process.ppid !== keeper;

export const tellKeeper = (message: KeptSays, handle?: unknown): void => {
  // A raw handle is sent as is; without its keeper the process ends anyway.
  process.send?.(message, handle as SendHandle, undefined, () => {});
};

/** Calls back for a signal to the service, whichever process receives it. */
export function onServiceSignal(signal: KeptSignal, listener: () => void): void {
  if (!isKept()) {
    process.on(signal, listener);
    return;
  }
  process.on(signal, () => {});
  process.on("message", (message: KeeperSays) => {
    if (message.signal === signal) listener();
  });
}
