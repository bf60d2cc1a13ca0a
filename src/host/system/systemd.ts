import { execFile } from "node:child_process";

/** Long, because on a busy machine processes take seconds to start, and systemd kills the service if READY=1 is lost. */
const patience = 20_000;

let mainPid = process.pid;

/** Sets the process that systemd started, if it is not this one. */
export function setMainPid(pid: number): void {
  mainPid = pid;
}

/**
 * Notifies systemd (`Type=notify`). Node has no Unix datagram sockets, so systemd-notify sends it; if that is missing nothing
 * is sent, and systemd's start timeout reports it.
 */
export async function notifySystemd(...state: readonly string[]): Promise<void> {
  if (!process.env.NOTIFY_SOCKET) return;
  await new Promise<void>((resolve) => {
    execFile("systemd-notify", ["--no-block", `--pid=${mainPid}`, ...state], { timeout: patience }, () => resolve());
  });
}

/** With `WatchdogSec=`: notifies systemd twice per interval that the event loop responds. Otherwise does nothing. */
export function keepWatchdog(): void {
  const { WATCHDOG_USEC: limit, WATCHDOG_PID: pid } = process.env;
  if (!(Number(limit) > 0) || (pid !== undefined && Number(pid) !== process.pid)) return;
  let sending = false;
  const beat = async (): Promise<void> => {
    if (sending) return; // On a busy machine they would pile up.
    sending = true;
    await notifySystemd("WATCHDOG=1");
    sending = false;
  };
  setInterval(() => void beat(), Number(limit) / 2_000).unref();
}
