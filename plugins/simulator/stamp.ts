import { performance } from "node:perf_hooks";
/** Replaced by the time of writing (epoch, µs), so that a reader can measure latency. */
export const stampMark = "{{now}}";

export function stampNow(text: string): string {
  if (!text.includes(stampMark)) return text;
  const now = Math.round((performance.timeOrigin + performance.now()) * 1000);
  return text.replaceAll(stampMark, String(now));
}
