// Measures while other guests of the host leave this machine its processors (Linux: steal time in /proc/stat; elsewhere always).
import { readFileSync } from "node:fs";

/** Of the time that was wanted, the part others had: with 5 % and more, delays and ratios are theirs rather than ours. */
const most = 0.05;
/** Steal comes in episodes of minutes. */
const patience = 15 * 60_000;

/** What `measure` found in a quiet stretch, and how much was stolen in it; the last try once patience has run out. */
export function quietly(measure, name) {
  for (const end = Date.now() + patience; ; ) {
    while (stolenFrom(spin) > most && Date.now() < end) pause();
    const before = ticks();
    const result = measure();
    const stolen = share(before, ticks());
    if (stolen <= most || Date.now() >= end) return { result, stolen };
    console.error(`${name}: once more, ${(stolen * 100).toFixed(0)} % of the processors' time was stolen`);
  }
}

export const isQuiet = (stolen) => stolen <= most;

function stolenFrom(work) {
  const before = ticks();
  work();
  return share(before, ticks());
}

function ticks() {
  let stat;
  try {
    stat = readFileSync("/proc/stat", "utf8");
  } catch {
    return { wanted: 0, stolen: 0 };
  }
  const [user, nice, system, , , irq, softirq, stolen = 0] = stat.split("\n")[0].split(/\s+/).slice(1).map(Number);
  return { wanted: user + nice + system + irq + softirq + stolen, stolen };
}

const share = (from, to) => (to.stolen - from.stolen) / Math.max(1, to.wanted - from.wanted);

function spin() {
  for (const end = Date.now() + 1000; Date.now() < end; );
}

function pause() {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10_000);
}
