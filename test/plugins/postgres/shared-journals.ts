import { Cluster } from "./cluster.ts";

interface SharedJournal extends AsyncDisposable {
  /** Of the configuration. */
  readonly entry: Readonly<Record<string, unknown>>;
}

/** Journals that two processes of this machine share, with leases that end soon. */
export const journals: Readonly<Record<string, () => Promise<SharedJournal>>> = {
  sqlite: async () => ({
    entry: { type: "sqlite", path: "./j.db", lease: "1s" },
    [Symbol.asyncDispose]: async () => {},
  }),
  postgres: async () => {
    const cluster = await Cluster.start();
    return {
      entry: { type: "postgres", url: cluster.url, lease: "1s" },
      [Symbol.asyncDispose]: () => cluster.stop(),
    };
  },
};
