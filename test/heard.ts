import { RunSignalFeed } from "../src/journal/signals.ts";

const numbers = new Map<string, number>();
const { add } = RunSignalFeed.prototype;
RunSignalFeed.prototype.add = function (signals) {
  add.call(this, signals);
  numbers.set(this.run, this.last);
};

/** Until a run that executes in this process has its nth signal: it reads them after they are stored, and no event tells when. */
export async function heard(run: string, signal = 1): Promise<void> {
  while ((numbers.get(run) ?? 0) < signal) await new Promise((resolve) => setTimeout(resolve, 2));
}
