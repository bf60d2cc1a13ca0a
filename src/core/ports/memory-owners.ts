import { VenturiError } from "../errors/errors.ts";
import type { MemoryScope } from "../run/memory-events.ts";
import type { Runs } from "./runs.ts";

/** Identifies a memory: `owner` is a session, user or agent of the tenant. */
export interface MemoryPlace {
  readonly tenant: string;
  readonly scope: MemoryScope;
  readonly owner: string;
}

interface Asking {
  readonly run: string;
  readonly agent: string;
  readonly session?: string;
}

/** How many runs' tenants and users are cached; every round needs them. */
const most = 1_000;

/** Finds whose memory a run uses. */
export class MemoryOwners {
  readonly #runs: () => Runs;
  readonly #known = new Map<string, { readonly tenant: string; readonly user: string | undefined }>();

  constructor(runs: () => Runs) {
    this.#runs = runs;
  }

  /** Undefined when the run has no session, or no user. */
  async find(scope: MemoryScope, { run, agent, session }: Asking): Promise<MemoryPlace | undefined> {
    const { tenant, user } = await this.#of(run);
    const owner = scope === "agent" ? agent : scope === "session" ? session : user;
    return owner === undefined ? undefined : { tenant, scope, owner };
  }

  async placeOf(scope: MemoryScope, asking: Asking): Promise<MemoryPlace> {
    const place = await this.find(scope, asking);
    if (place !== undefined) return place;
    const reason =
      scope === "session"
        ? "this run is not part of a session"
        : "nobody said for whom this run is: its caller has no token, and it has no metadata.user";
    throw new VenturiError("tool.call", "tool_failed", `there is nothing to remember it by: ${reason}`);
  }

  async #of(run: string): Promise<{ readonly tenant: string; readonly user: string | undefined }> {
    const known = this.#known.get(run);
    if (known !== undefined) return known;
    const { tenant, request } = await this.#runs().get(run);
    const found = { tenant, user: request.user };
    this.#known.set(run, found);
    const [oldest] = this.#known.keys();
    if (this.#known.size > most && oldest !== undefined) this.#known.delete(oldest);
    return found;
  }
}
