import type { Charged, TimePart, TimeSegment } from "../../core/run/time-parts.ts";

export interface Share extends Charged {
  ms: number;
  count: number;
}

/** A run's time by activity, the largest first. */
export class Shares {
  readonly all: readonly Share[];
  readonly total: number;

  constructor(segments: readonly TimeSegment[]) {
    const shares = new Map<string, Share>();
    for (const { part, name, from, to } of segments) {
      const key = `${part} ${name}`;
      const share = shares.get(key) ?? { part, name, ms: 0, count: 0 };
      share.ms += to - from;
      share.count += 1;
      shares.set(key, share);
    }
    this.all = [...shares.values()].sort((left, right) => right.ms - left.ms);
    this.total = this.all.reduce((sum, { ms }) => sum + ms, 0);
  }

  of(part: TimePart, name?: string): number {
    const ours = this.all.filter((share) => share.part === part && (name === undefined || share.name === name));
    return ours.reduce((sum, { ms }) => sum + ms, 0);
  }
}
