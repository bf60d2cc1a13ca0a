import type { NatsConnection } from "@nats-io/transport-node";
import { explain, failed, unusable } from "./failures.ts";

const oldest = [2, 12, 2] as const;
const patience = 2_000;

/**
 * Atomic batches came with 2.12. Before 2.12.2 a server may deadlock when a batch is read during a write (nats-server pull
 * request 7458).
 */
export function checkVersion(op: string, server: string, version: string): void {
  const numbers = version.split(/[.-]/).map((number) => Number.parseInt(number, 10));
  for (const [index, least] of oldest.entries()) {
    const number = numbers[index] ?? 0;
    if (number > least) return;
    if (number < least || Number.isNaN(number))
      throw unusable(op, `${server} is nats-server ${version}; ${oldest.join(".")} or newer is needed`);
  }
}

/** A server's self-description. */
interface Report {
  readonly name: string;
  readonly id: string;
  readonly version: string;
  readonly syncs: boolean;
  /** Number of JetStream servers in its cluster, including those that are down. */
  readonly clusterSize: number;
}

export interface DurabilityOptions {
  /** Monitoring URLs, one per server. */
  readonly monitors: readonly string[];
  /** A connection to the system account, which reaches all servers. */
  readonly system: (() => Promise<NatsConnection>) | undefined;
}

/**
 * By default a server acknowledges a message up to two minutes before it is synced to disk. A plain account cannot see that
 * setting; the servers' monitoring endpoints or the system account can.
 */
export async function checkDurability(op: string, options: DurabilityOptions): Promise<void> {
  const { monitors, system } = options;
  if (monitors.length === 0 && !system) {
    throw unusable(
      op,
      "nobody can tell whether its servers sync before they acknowledge; set journal.monitors (each server's monitoring address) or journal.system (a login of the system account), or journal.durability to unchecked",
    );
  }
  const reports = system ? await askSystem(op, system) : await Promise.all(monitors.map((url) => askMonitor(op, url)));
  for (const { name, version, syncs } of reports) {
    checkVersion(op, name, version);
    if (!syncs) {
      throw unusable(
        op,
        `${name} acknowledges before it has synced to disk; set sync_interval: always in its jetstream block, or journal.durability to unchecked`,
      );
    }
  }
  const seen = new Set(reports.map(({ id }) => id)).size;
  const there = Math.max(0, ...reports.map(({ clusterSize }) => clusterSize));
  if (seen < there) {
    const how = system ? "answer" : "are named by journal.monitors";
    // With the system account, a server that is down may come back; a missing URL never will.
    throw (system ? failed : unusable)(op, `${seen} of its ${there} servers ${how}; the sync of the others is unknown`);
  }
}

interface Jsz {
  readonly server_id?: string;
  readonly config?: { readonly sync_always?: boolean };
  readonly meta_cluster?: { readonly cluster_size?: number };
}

const reportOf = (name: string, version: string, jsz: Jsz): Report => ({
  name,
  version,
  id: jsz.server_id ?? name,
  syncs: jsz.config?.sync_always === true,
  clusterSize: jsz.meta_cluster?.cluster_size ?? 1,
});

async function askMonitor(op: string, url: string): Promise<Report> {
  const get = async (path: string): Promise<unknown> => {
    const answer = await fetch(new URL(path, url), { signal: AbortSignal.timeout(patience) });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    return answer.json();
  };
  try {
    const jsz = (await get("/jsz?config=true")) as Jsz; // As documented by nats-server.
    const varz = (await get("/varz")) as { version?: string };
    return reportOf(url, varz.version ?? "0", jsz);
  } catch (thrown) {
    throw failed(op, "a monitoring address does not answer", new Error(url, { cause: thrown }));
  }
}

async function askSystem(op: string, connect: () => Promise<NatsConnection>): Promise<Report[]> {
  const connection = await connect().catch((thrown: unknown) => {
    const { message, unusable: never } = explain(thrown);
    throw (never ? unusable : failed)(op, `journal.system: ${message}`, thrown);
  });
  const reports: Report[] = [];
  try {
    const options = { maxWait: patience, stall: 500, strategy: "stall" } as const;
    const request = JSON.stringify({ config: true });
    for await (const answer of await connection.requestMany("$SYS.REQ.SERVER.PING.JSZ", request, options)) {
      const { server, data } = answer.json<{ server?: { name: string; ver: string }; data?: Jsz }>();
      if (server && data?.config) reports.push(reportOf(server.name, server.ver, data));
    }
  } catch {
    // No answer: reported below.
  } finally {
    await connection.close();
  }
  if (reports.length === 0) throw unusable(op, "no server answers journal.system; is that the system account?");
  return reports;
}
