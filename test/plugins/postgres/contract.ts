import { journalContract } from "../../../src/testing/journal.ts";
import { openJournal } from "./open.ts";
import { freshSchema, sharedCluster } from "./shared.ts";

/** Each test has its own schema in one cluster. */
export function postgresContract(name: string, { pooler }: { readonly pooler: boolean }): void {
  let schema = "";
  journalContract(name, {
    async open(options) {
      schema = freshSchema();
      const journal = openJournal((await sharedCluster()).url, schema, { ...options, pooler });
      await journal.ping();
      return journal;
    },
    reopen: async (options) => openJournal((await sharedCluster()).url, schema, { ...options, pooler }),
  });
}
