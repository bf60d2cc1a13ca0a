import type { Child } from "./child.ts";
import type { SharedHandle } from "./link.ts";

export type Placement = "packed" | "even";

/** A process with this load takes no connections while another has room; if all have it, one more takes them. */
const full = 0.8;
/** One process fewer takes connections once the others would stay below this. */
const roomy = 0.6;
/** … for so long, ms. */
const calm = 10_000;
/** A process that has not reported for this long is blocked, or about to be, ms. */
const silent = 700;

/** Smaller surpluses over the mean are not worth moving. */
const tolerance = { factor: 1.25, extra: 8 };
/** What a full process keeps of its connections at a time, while another has room. */
const kept = 0.75;

type Sharing = Pick<Child, "takes" | "connections" | "load">;
type Placed = Pick<Child, "number" | "load" | "reportedAt" | "takes">;

/**
 * Which processes take new connections: the first ones, as many as the load needs. Each process wakes, commits and stays warm for itself: the
 * same streams over four processes cost twice the processor time of one, and their first tokens come later (`npm run bench:check -- --only processes`).
 */
export class Packing {
  readonly #now: () => number;
  #count = 1;
  #roomySince: number | undefined;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  place(ready: readonly Child[], socket: SharedHandle): void {
    const taking = this.among(ready);
    for (const child of ready) child.take(taking.has(child), socket);
  }

  /** The processes of `ready` that take connections now. */
  among<P extends Placed>(ready: readonly P[]): ReadonlySet<P> {
    const inOrder = ready.toSorted((left, right) => left.number - right.number);
    const now = this.#now();
    // One that is idle and takes none reports nothing.
    const isSilent = ({ load, reportedAt, takes }: P) => now - reportedAt > silent && (takes || load > 0);
    const hasRoom = (each: P) => each.load < full && !isSilent(each);
    const isNone = !inOrder.slice(0, this.#count).some(hasRoom);
    const others = this.#count - 1;
    const isRoomy = others > 0 && ready.reduce((sum, { load }) => sum + load, 0) < others * roomy;
    if (!isRoomy) this.#roomySince = undefined;
    this.#roomySince ??= isRoomy ? now : undefined;
    if (isNone && this.#count < inOrder.length) this.#change(this.#count + 1);
    else if (this.#roomySince !== undefined && now - this.#roomySince >= calm) this.#change(others);
    const needed = inOrder.slice(0, this.#count);
    const roomyOnes = needed.filter(hasRoom);
    return new Set(roomyOnes.length > 0 ? roomyOnes : needed);
  }

  #change(count: number): void {
    this.#count = count;
    this.#roomySince = undefined;
  }
}

/** How many connections a process should keep, if fewer than it has: those above it are closed after their responses. */
export function shareOf(child: Sharing, ready: readonly Sharing[]): number | undefined {
  const { takes, connections, load } = child;
  if (!takes && load < full) return 0;
  const others = ready.filter((other) => other.takes && other !== child);
  const sum = others.reduce((total, other) => total + other.connections, connections);
  // New connections arrive faster than reports, so only an existing surplus counts.
  const share = (sum / (others.length + 1)) * tolerance.factor + tolerance.extra;
  if (connections > share) return share;
  // A few connections can be a full load: a gateway's, for example, which were opened while there was none.
  const isRelieved = load >= full && connections > 0 && others.some((other) => other.load < roomy);
  return isRelieved ? Math.floor(connections * kept) : undefined;
}
