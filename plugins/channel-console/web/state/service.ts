/** State of the service. */
export interface ServiceView {
  readonly version: string;
  readonly node: string;
  readonly process: number;
  readonly uptimeMs: number;
  readonly ready: boolean;
  readonly reason?: string;
  readonly revision: {
    readonly hash: string;
    readonly file?: string;
    readonly runs: number;
    readonly runsOnOld: number;
  };
  readonly journal: { readonly type: string; readonly digests: boolean; readonly pingMs?: number };
  readonly eventLoop: { readonly blockedMs: number; readonly longestMs: number };
  readonly runs: { readonly active: number; readonly followers: number };
  readonly backlog?: {
    readonly ready: number;
    readonly waiting: number;
    readonly unexecutable: readonly { readonly agent: string; readonly runs: number }[];
  };
  readonly processes?: readonly {
    readonly number: number;
    readonly pid: number;
    readonly status: string;
    readonly startedAt: number;
    readonly restarts: number;
    readonly runs?: number;
  }[];
  readonly replicas?: {
    readonly known: boolean;
    readonly workers: readonly {
      readonly name: string;
      readonly pid?: number;
      readonly silentMs: number;
      readonly runs: number;
      readonly own: boolean;
      readonly alive: boolean;
    }[];
  };
  readonly providers: readonly {
    readonly name: string;
    readonly type: string;
    readonly breaker: "closed" | "open" | "half-open";
    readonly leftMs: number;
    readonly open?: readonly {
      readonly model?: string;
      readonly state: "closed" | "open" | "half-open";
      readonly leftMs: number;
      readonly tenants?: number;
    }[];
    readonly lastError?: { readonly at: number; readonly code: string; readonly err: string };
  }[];
  readonly models: readonly { readonly name: string; readonly chain: readonly string[] }[];
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly effect: string;
    readonly approval: string;
    readonly agents: readonly string[];
  }[];
  readonly channels: readonly { readonly name: string; readonly type: string }[];
  readonly plugins: readonly string[];
  readonly quirks?: Readonly<Record<string, number>>;
  readonly config?: string;
}

/** Figures of the process at one time. */
export type Sample = { readonly at: number } & Readonly<Record<string, number | undefined>>;
