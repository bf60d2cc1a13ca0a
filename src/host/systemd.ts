import { execFile } from "node:child_process";

/**
 * Notifies systemd (`Type=notify`). Node has no Unix datagram sockets, so systemd-notify sends it; if that is missing nothing
 * is sent, and systemd's start timeout reports it.
 */
export async function notifySystemd(...state: readonly string[]): Promise<void> {
  if (!process.env.NOTIFY_SOCKET) return;
  await new Promise<void>((resolve) => {
    execFile("systemd-notify", ["--no-block", `--pid=${process.pid}`, ...state], { timeout: 2_000 }, () => resolve());
  });
}

/** With `WatchdogSec=`: tells systemd twice in that time that the event loop turns. Without it nothing is sent. */
export function keepWatchdog(): void {
  const { WATCHDOG_USEC: limit, WATCHDOG_PID: pid } = process.env;
  if (!(Number(limit) > 0) || (pid !== undefined && Number(pid) !== process.pid)) return;
  setInterval(() => void notifySystemd("WATCHDOG=1"), Number(limit) / 2_000).unref();
}
