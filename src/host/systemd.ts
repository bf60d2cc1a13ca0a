import { execFile } from "node:child_process";

/**
 * Tells systemd (`Type=notify`) how the service is. Node has no datagram sockets of the Unix kind, so systemd's own tool
 * sends it; where that is missing nothing is told, and systemd's start timeout says so.
 */
export async function notifySystemd(...state: readonly string[]): Promise<void> {
  if (!process.env.NOTIFY_SOCKET) return;
  await new Promise<void>((resolve) => {
    execFile("systemd-notify", ["--no-block", `--pid=${process.pid}`, ...state], { timeout: 2_000 }, () => resolve());
  });
}
