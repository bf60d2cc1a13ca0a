import { Cluster } from "./cluster.ts";

let starting: Promise<Cluster> | undefined;

/** One server for all tests of this process, until it exits; each journal gets its own schema. */
export const sharedCluster = (): Promise<Cluster> => {
  starting ??= Cluster.start();
  return starting;
};

let count = 0;
export const freshSchema = (): string => `venturi_${++count}`;
