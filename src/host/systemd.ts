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
