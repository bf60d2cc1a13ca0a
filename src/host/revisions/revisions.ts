import "reflect-metadata";
import { isDeepStrictEqual } from "node:util";
import { inject, injectable } from "tsyringe";
import { messageOf, VenturiError, wrap } from "../../core/errors/errors.ts";
import { Log } from "../../core/ports/log.ts";
import { Telemetry } from "../../core/ports/telemetry.ts";
import { token } from "../../core/values/token.ts";
import { type Config, type LoadOptions, loadConfig } from "../config/load.ts";
import { find, plain } from "../yaml/tree.ts";
import type { ConfigRevision } from "./revision.ts";

/** Builds and opens a config revision in a child container. */
export type OpenRevision = (config: Config) => Promise<ConfigRevision>;
export const OpenRevision = token<OpenRevision>("OpenRevision");

export interface HeldRevision {
  readonly revision: ConfigRevision;
  release(): void;
}

export type ReloadOutcome =
  /** `restart`: changed keys that take effect only after a restart. */
  | { readonly ok: true; readonly hash: string; readonly restart: readonly string[] }
  | { readonly ok: false; readonly error: VenturiError };

/** Keys of components built once, at process start. */
const needRestart = ["journal", "server", "channels", "telemetry", "limits", "dataFolder"];

/** The revision new runs get, and how it is replaced. */
@injectable()
export class Revisions {
  readonly #open: OpenRevision;
  readonly #log: Log;
  readonly #telemetry: Telemetry;
  #current: ConfigRevision | undefined;
  #reloading: Promise<unknown> = Promise.resolve();
  #closed = false;
  readonly #retiring = new Set<ConfigRevision>();

  constructor(
    @inject(OpenRevision) open: OpenRevision,
    @inject(Log) log: Log,
    @inject(Telemetry) telemetry: Telemetry,
  ) {
    this.#open = open;
    this.#log = log;
    this.#telemetry = telemetry;
  }

  async start(config: Config): Promise<void> {
    this.#current = await this.#open(config);
  }

  get current(): ConfigRevision {
    if (this.#current === undefined) throw new Error("the first revision is not open yet");
    return this.#current;
  }

  /** Runs that still execute on replaced revisions. */
  get heldByOld(): number {
    return [...this.#retiring].reduce((sum, { held }) => sum + held, 0);
  }

  /** Holds the current revision for a run. */
  acquire(): HeldRevision {
    const revision = this.current;
    return { revision, release: revision.acquire() };
  }

  /** Reloads the config and swaps revisions. On any error nothing changes except a log line and a metric. */
  reload(options: LoadOptions): Promise<ReloadOutcome> {
    // A revision opened now would never be closed and would keep the process alive.
    if (this.#closed) return Promise.resolve({ ok: false, error: stopping() });
    const reloaded = this.#reloading.then(() => this.#reload(options));
    this.#reloading = reloaded;
    return reloaded;
  }

  /** Closes all revisions. Runs have ended or been released by now, so nothing is awaited. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#reloading;
    await Promise.all([...this.#retiring, this.current].map((revision) => revision.close()));
  }

  async #reload(options: LoadOptions): Promise<ReloadOutcome> {
    const old = this.current;
    try {
      const config = await loadConfig(options);
      this.#current = await this.#open(config);
      this.#retire(old);
      const restart = needRestart.filter((key) => !sameValue(old.config, config, key));
      this.#telemetry.count("venturi.config.reload", { outcome: "ok" });
      this.#log.info("config.reload", { config: config.hash, ...(restart.length > 0 ? { needRestart: restart } : {}) });
      return { ok: true, hash: config.hash, restart };
    } catch (thrown) {
      const error = wrap("config.reload", thrown);
      this.#telemetry.count("venturi.config.reload", { outcome: "failed" });
      this.#log.error("config.reload", { code: error.code, error: error.message, config: old.config.hash });
      return { ok: false, error };
    }
  }

  #retire(old: ConfigRevision): void {
    this.#retiring.add(old);
    old
      .retire()
      .catch((thrown: unknown) => this.#log.error("config.retire", { error: messageOf(thrown) }))
      .finally(() => this.#retiring.delete(old));
  }
}

const stopping = (): VenturiError =>
  new VenturiError("config.reload", "shutting_down", "the service is stopping; the configuration stays as it was");

function sameValue(left: Config, right: Config, key: string): boolean {
  const [before, after] = [left, right].map(({ tree }) => find(tree, [key]));
  return isDeepStrictEqual(before && plain(before), after && plain(after));
}
