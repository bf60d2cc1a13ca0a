import { onServiceSignal } from "./kept.ts";

/** Resolves at the first SIGTERM or SIGINT; a second one calls `now` and exits immediately. */
export function stopSignal(now: () => void = () => {}): Promise<void> {
  return new Promise((resolve) => {
    let stopping = false;
    const stop = (signal: "SIGINT" | "SIGTERM") => {
      if (stopping) {
        now();
        process.exit(signal === "SIGINT" ? 130 : 143);
      }
      stopping = true;
      resolve();
    };
    for (const signal of ["SIGTERM", "SIGINT"] as const) onServiceSignal(signal, () => stop(signal));
  });
}
