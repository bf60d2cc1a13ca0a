import type { Scene } from "./chaos.ts";
import { Random } from "./random.ts";

/** Trouble with the replicas and trouble with the engine, side by side. At the end everyone is up and awake. */
export async function makeTrouble(scene: Scene, signal: AbortSignal): Promise<Record<string, number>> {
  const { engine, options } = scene;
  const counts: Record<string, number> = {};
  const repeat = async (faults: Readonly<Record<string, Fault>>, random: Random) => {
    while (!signal.aborted) {
      await pause(random.between(50, 800));
      const name = random.pick(Object.keys(faults));
      await faults[name]?.(random);
      counts[name] = (counts[name] ?? 0) + 1;
    }
  };
  await Promise.all([
    repeat(replicaFaults(scene), new Random(options.seed + 1)),
    repeat(engine.faults, new Random(options.seed + 2)),
  ]);
  return counts;
}

const replicaFaults = ({ replicas, engine }: Scene): Record<string, Fault> => ({
  async kill(random) {
    const victim = random.pick(replicas);
    await victim.kill();
    await victim.start();
  },
  /** Longer than the lease more often than not: it wakes as a zombie. */
  async freeze(random) {
    const victim = random.pick(replicas);
    victim.freeze();
    await pause(random.between(500, 4_000));
    victim.thaw();
  },
  /** It wakes the moment its runs are someone else's, who has had no time to write. */
  async overtake(random) {
    const victim = random.pick(replicas);
    const before = await engine.takeovers().catch(() => undefined);
    victim.freeze();
    const deadline = Date.now() + 4_000;
    while (before !== undefined && Date.now() < deadline) {
      if ((await engine.takeovers().catch(() => before)) > before) break;
      await pause(20);
    }
    victim.thaw();
  },
});

type Fault = (random: Random) => Promise<void>;

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
