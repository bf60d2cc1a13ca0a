import type { Ownership } from "../../chaos/engines.ts";
import type { Cluster } from "./cluster.ts";
import { ask } from "./standby.ts";

/** Who wrote a run's records; where an epoch began is where its first record is. */
export async function ownershipOf(cluster: Cluster, schema: string, run: string): Promise<Ownership> {
  const text = `SELECT first, epoch FROM ${schema}.records WHERE run = (SELECT id FROM ${schema}.runs WHERE run = $1) ORDER BY first`;
  const rows = await ask(cluster, text, [run]);
  const records = rows.map((row) => ({ first: Number(row.first), epoch: Number(row.epoch) }));
  return { records, claims: records.map(({ first, epoch }) => ({ epoch, head: first - 1 })) };
}
