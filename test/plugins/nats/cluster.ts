import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../chaos/port.ts";
import { findServer, missing } from "./server.ts";

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export interface ClusterOptions {
  readonly size?: 1 | 3;
  /** `sync_interval` of its servers. */
  readonly sync?: string;
  /** More lines of each server's configuration. */
  readonly more?: string;
  /** Another nats-server than the one that is found. */
  readonly binary?: string;
}

/** NATS servers of their own, that can be killed, frozen and started again. */
export class NatsCluster {
  readonly ports: readonly number[];
  readonly monitors: readonly string[];
  readonly #folder: string;
  readonly #files: readonly string[];
  readonly #binary: string;
  readonly #children: (ChildProcess | undefined)[] = [];

  private constructor(parts: { ports: number[]; monitors: number[]; folder: string; files: string[]; binary: string }) {
    this.ports = parts.ports;
    this.monitors = parts.monitors.map((port) => `http://127.0.0.1:${port}`);
    this.#folder = parts.folder;
    this.#files = parts.files;
    this.#binary = parts.binary;
  }

  static async start(options: ClusterOptions = {}): Promise<NatsCluster> {
    const { size = 1, sync = "always", more = "", binary = findServer() } = options;
    if (binary === undefined) throw new Error(missing);
    const folder = mkdtempSync(join(tmpdir(), "venturi-nats-"));
    const ports: number[] = [];
    const routes: number[] = [];
    const monitors: number[] = [];
    for (let n = 0; n < size; n++) for (const list of [ports, routes, monitors]) list.push(await freePort());
    const peers = routes.map((route) => `"nats://127.0.0.1:${route}"`).join(", ");
    const files = ports.map((port, n) => {
      const store = join(folder, `${n}`);
      mkdirSync(store);
      const lines = [
        `listen: "127.0.0.1:${port}"`,
        `http: "127.0.0.1:${monitors[n]}"`,
        `server_name: n${n}`,
        `jetstream { store_dir: "${store}", sync_interval: ${sync} }`,
        size > 1 ? `cluster { name: c, listen: "127.0.0.1:${routes[n]}", no_advertise: true, routes: [${peers}] }` : "",
        more,
      ];
      const file = join(folder, `${n}.conf`);
      writeFileSync(file, lines.join("\n"));
      return file;
    });
    const cluster = new NatsCluster({ ports, monitors, folder, files, binary });
    for (let n = 0; n < size; n++) cluster.up(n);
    await cluster.ready();
    return cluster;
  }

  get size(): number {
    return this.ports.length;
  }

  get servers(): string[] {
    return this.ports.map((port) => `nats://127.0.0.1:${port}`);
  }

  up(n: number): void {
    if (this.#children[n]) return;
    const file = this.#files[n] ?? "";
    const child = spawn(this.#binary, ["-c", file, "-l", `${file}.log`], { stdio: "ignore" });
    this.#children[n] = child;
    const kill = () => child.kill("SIGKILL");
    process.once("exit", kill);
    child.once("exit", () => process.off("exit", kill));
  }

  /** Resolves when all its servers are healthy, and the leader of the cluster sees them all. */
  async ready(): Promise<void> {
    const deadline = Date.now() + 60_000;
    const until = async (isReady: () => Promise<boolean>) => {
      while (!(await isReady().catch(() => false))) {
        if (Date.now() > deadline) throw new Error("nats-server does not get ready");
        await pause(50);
      }
    };
    const ask = (address: string) => fetch(address, { signal: AbortSignal.timeout(1_000) });
    for (const monitor of this.monitors) {
      await until(async () => {
        const answer = await ask(`${monitor}/healthz`);
        await answer.body?.cancel();
        return answer.ok;
      });
    }
    if (this.monitors.length > 1)
      await until(async () => (await Promise.all(this.monitors.map(seesAll))).some(Boolean));
  }

  async kill(n: number): Promise<void> {
    const child = this.#children[n];
    this.#children[n] = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }

  /** Starts all its servers again, with another `sync_interval`. */
  async resync(sync: string): Promise<void> {
    for (const [n, file] of this.#files.entries()) {
      const child = this.#children[n];
      if (child) {
        const gone = once(child, "exit");
        child.kill("SIGTERM");
        await gone;
        this.#children[n] = undefined;
      }
      writeFileSync(file, readFileSync(file, "utf8").replace(/sync_interval: \w+/, `sync_interval: ${sync}`));
      this.up(n);
    }
    await this.ready();
  }

  freeze(n: number): void {
    this.#children[n]?.kill("SIGSTOP");
  }

  thaw(n: number): void {
    this.#children[n]?.kill("SIGCONT");
  }

  /** Which server leads the stream, by what the servers say. */
  async leaderOf(stream: string): Promise<number | undefined> {
    for (const [n, monitor] of this.monitors.entries()) {
      const answer = await fetch(`${monitor}/jsz?streams=true`, { signal: AbortSignal.timeout(1_000) }).catch(
        () => undefined,
      );
      if (!answer?.ok) continue;
      if (this.size === 1) return n;
      const { account_details: accounts = [] } = (await answer.json()) as Jsz; // as nats-server documents it
      for (const { name, cluster } of accounts.flatMap((account) => account.stream_detail ?? []))
        if (name === stream && cluster?.leader) return Number(cluster.leader.slice(1));
    }
    return undefined;
  }

  async stop(): Promise<void> {
    await Promise.all(this.ports.map((_, n) => this.kill(n)));
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

interface Jsz {
  readonly account_details?: {
    readonly stream_detail?: { readonly name: string; readonly cluster?: { readonly leader?: string } }[];
  }[];
}

/** Whether this server leads the cluster and has every other one online: only then can a stream be placed on all of them. */
async function seesAll(monitor: string): Promise<boolean> {
  const answer = await fetch(`${monitor}/jsz`, { signal: AbortSignal.timeout(1_000) });
  const { meta_cluster: meta } = (await answer.json()) as {
    meta_cluster?: { cluster_size: number; replicas?: { offline?: boolean; current?: boolean }[] };
  };
  const replicas = meta?.replicas ?? [];
  return replicas.length === (meta?.cluster_size ?? 0) - 1 && replicas.every((peer) => peer.current && !peer.offline);
}
