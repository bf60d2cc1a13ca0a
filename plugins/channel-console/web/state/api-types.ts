/** Types of the public API that the page uses. */
import type { Timing, Usage } from "venturi/client";

export type { AgentView, ErrorBody, EventOf, Message, Part, RunEvent, Timing, Usage } from "venturi/client";

export type RunStatus = "ready" | "running" | "waiting" | "stranded" | "finished" | "failed" | "cancelled";

export const isEnded = (status: RunStatus): boolean =>
  status === "finished" || status === "failed" || status === "cancelled";

/** A row of the run list; most fields exist once the run has ended, if the journal keeps digests. */
export interface RunRow {
  readonly run: string;
  readonly status: RunStatus;
  readonly tenant?: string;
  readonly agent?: string;
  readonly session?: string;
  readonly createdAt?: number;
  readonly updatedAt?: number;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** First characters of an unfinished run's input. */
  readonly asked?: string;
  readonly digest?: Digest;
}

/** How long an ended run took, as its page says; its last write comes a few milliseconds later. */
export const tookOf = ({ digest, createdAt = 0, updatedAt = createdAt }: RunRow): number =>
  digest?.ms ?? updatedAt - createdAt;

export interface Digest {
  readonly ms?: number;
  readonly code?: string;
  readonly finish?: string;
  readonly timing?: Timing;
  readonly usage?: Usage;
  readonly cost?: number;
  readonly rounds?: number;
  readonly tools?: readonly string[];
  readonly models?: readonly string[];
  readonly input?: string;
  readonly output?: string;
  readonly by?: string;
  readonly cancelledBy?: string;
}

export interface Why {
  readonly cause: string;
  readonly meaning: string;
  readonly summary: string;
  readonly ms: number;
  readonly parts: readonly {
    readonly part: string;
    readonly name: string;
    readonly ms: number;
    readonly share: number;
    readonly count: number;
  }[];
}

export interface Me {
  readonly id: string;
  readonly tenant?: string;
  readonly tenants?: "all";
  readonly act?: "all";
  readonly may: readonly string[];
  readonly agents?: readonly string[];
}
