import { Cluster } from "./cluster.ts";

let starting: Promise<Cluster> | undefined;

/** One server for all tests; each journal gets a schema of its own. */
export const sharedCluster = (): Promise<Cluster> => {
  starting ??= Cluster.start();
  return starting;
};

after(async () => {
  await (await starting)?.stop();
});

let count = 0;
export const freshSchema = (): string => `venturi_${++count}`;
