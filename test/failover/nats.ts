import { NatsCluster } from "../plugins/nats/cluster.ts";
import { openJournal } from "../plugins/nats/open.ts";
import { natsOwnership } from "../plugins/nats/ownership.ts";
import type { FailingEngine } from "./failover.ts";

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const space = "failover";
/** Longer than an election. */
const away = 10_000;

/** Three servers. `kill`: the one that leads the runs; `vanish`: it stops answering; `stall`: another one is killed. */
export async function natsEngine(): Promise<FailingEngine> {
  const cluster = await NatsCluster.start({ size: 3 });
  const { servers, monitors } = cluster;
  const ownership = await natsOwnership(cluster, { space, shards: 1 });
  const leader = async (): Promise<number> => {
    for (;;) {
      const found = await cluster.leaderOf(`V_${space}_0`);
      if (found !== undefined) return found;
      await pause(50);
    }
  };
  return {
    journals: [0, 1, 2].map(() => ({ type: "nats", servers, monitors, space })),
    stopsAll: false,
    async fail(failure, delay) {
      const first = await leader();
      const n = failure === "stall" ? (first + 1) % 3 : first;
      if (failure === "vanish") cluster.freeze(n);
      else await cluster.kill(n);
      await pause(away + delay);
      if (failure === "vanish") cluster.thaw(n);
      else cluster.up(n);
    },
    mend: () => cluster.ready(),
    open: () => openJournal(cluster, space),
    ownership: (run) => ownership.of(run),
    async close() {
      await ownership.close();
      await cluster.stop();
    },
  };
}
