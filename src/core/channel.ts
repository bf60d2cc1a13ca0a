import type { Log } from "./log.ts";
import type { Runs } from "./runs.ts";

/** Who is asking, once authenticated. `agents` undefined = all of them. */
export interface Caller {
  readonly id: string;
  readonly agents: readonly string[] | undefined;
}

/** What a channel mounts on. `Server` is the HTTP server's type; `venturi/plugin` names it. */
export interface ChannelHost<Server = unknown> {
  readonly server: Server;
  readonly runs: Runs;
  readonly log: Log;
  readonly limits: {
    /** Most bytes that may wait in memory for one slow reader. */
    readonly slowReader: number;
    /** Silence after which a keep-alive is sent, ms. */
    readonly keepAlive: number;
    /** A reader that takes nothing for this long is ended; it can resume. */
    readonly stalled: number;
  };
  /** The caller of a request, or a thrown `unauthorized`, `forbidden`, `rate_limited`. */
  caller(request: unknown): Caller;
  /** Throws `forbidden` unless the caller may use the agent. */
  permit(caller: Caller, agent: string): void;
}

export interface Channel<Server = unknown> {
  mount(host: ChannelHost<Server>): void | Promise<void>;
}
export const Channel = Symbol("Channel");
