import { NatsCluster } from "../plugins/nats/cluster.ts";
import { openJournal } from "../plugins/nats/open.ts";
import { natsOwnership } from "../plugins/nats/ownership.ts";
import type { Engine, EngineSettings } from "./engines.ts";
import type { Random } from "./random.ts";
import { Wire } from "./wire.ts";

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const space = "chaos";
const shards = 2;

/** One server or three, each replica of the service behind doors of its own. */
export async function natsEngine({ type, servers: size }: EngineSettings): Promise<Engine> {
  const cluster = await NatsCluster.start({ size });
  const doors: Wire[][] = [];
  const ownership = await natsOwnership(cluster, { space, shards });
  const any = (random: Random) => random.pick([...cluster.ports.keys()]);
  const crash = async (n: number, random: Random) => {
    await cluster.kill(n);
    await pause(random.between(0, 3_000));
    cluster.up(n);
    await pause(1_000);
  };
  return {
    async config() {
      const wires = await Promise.all(cluster.ports.map((port) => Wire.to(port)));
      doors.push(wires);
      const servers = wires.map((wire) => `nats://127.0.0.1:${wire.port}`);
      const times = { lease: "1500ms", timeout: "5s", requestTimeout: "1s", connectTimeout: "1s" };
      // Servers are killed while replicas start: whether all of them sync cannot be asked then.
      return { type, servers, space, shards, replicas: size, durability: "unchecked", ...times };
    },
    faults: {
      crash: (random) => crash(any(random), random),
      ...(size > 1 && {
        crashLeader: async (random: Random) => crash((await cluster.leaderOf(`V_${space}_0`)) ?? 0, random),
      }),
      async stall(random) {
        const n = any(random);
        cluster.freeze(n);
        await pause(random.between(500, 4_000));
        cluster.thaw(n);
      },
      async blackHole(random) {
        const wires = random.pick(doors);
        for (const wire of wires) wire.swallow();
        await pause(random.between(500, 3_500));
        for (const wire of wires) wire.pass();
      },
    },
    open: () => openJournal(cluster, space, { shards, durability: "unchecked" }),
    audit: () => ownership.audit(),
    takeovers: async () => ownership.takeovers,
    ownership: (run) => ownership.of(run),
    async close() {
      await ownership.close();
      await Promise.all(doors.flat().map((door) => door.close()));
      await cluster.stop();
    },
  };
}
