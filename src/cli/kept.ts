import type { SendHandle } from "node:child_process";
import type { OpenOptions } from "../host/open.ts";
import type { Refused } from "../host/watchdog/strikes.ts";

/** What a service that is kept is told when it starts. */
export interface Kept {
  readonly worker: string;
  /** Descriptor of its black box. */
  readonly box: number;
  /** The socket on which it listens, after the first time. */
  readonly socket?: { readonly fd: number; readonly url: string };
  /** What blocked processes before and is not to be tried again. */
  readonly refused?: readonly Refused[];
  /** The process it replaces. */
  readonly before?: NonNullable<OpenOptions["before"]>;
  /** How often it was started again so far. */
  readonly restarts?: number;
}

/** What it tells its keeper. */
export interface KeptSays {
  readonly listening?: { readonly url: string; readonly wedged: number; readonly textLog: boolean };
  readonly alive?: true;
}

/** What the keeper tells it. */
export interface KeeperSays {
  readonly signal?: KeptSignal;
  readonly ask?: "alive";
}

/** Passed on. Those of a terminal or a service manager reach the service directly as well, where they are ignored. */
export const keptSignals = ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR2"] as const;
export type KeptSignal = (typeof keptSignals)[number];

const variable = "VENTURI_KEPT";

/** For the environment of the process. */
export const keptEnv = (kept: Kept): Readonly<Record<string, string>> => ({ [variable]: JSON.stringify(kept) });

export const isKept = (): boolean => kept !== undefined;

/** Read once, and taken out: programs that tools start have no use for it. */
const kept: Kept | undefined = (() => {
  const text = process.env[variable];
  delete process.env[variable];
  return text === undefined || process.send === undefined ? undefined : (JSON.parse(text) as Kept); // of `keptEnv`
})();

export const ownKept = (): Kept | undefined => kept;

/** The process that people and service managers know. */
export const servicePid = (): number => (isKept() ? keeper : process.pid);

const keeper = process.ppid;

/** A keeper that dies before it has taken the socket leaves a channel that never closes. */
export const isKeeperGone = (): boolean => process.ppid !== keeper;

export const tellKeeper = (message: KeptSays, handle?: unknown): void => {
  process.send?.(message, handle as SendHandle, undefined, () => {}); // a raw handle is sent as it is; without its keeper it ends anyway
};

/** Calls back for a signal to the service, whichever process gets it. */
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
