import { journalContract } from "../../../src/testing/journal.ts";
import { openJournal } from "./open.ts";
import { freshSchema, sharedCluster } from "./shared.ts";

for (const pooler of [false, true]) {
  let schema = "";
  journalContract(pooler ? "postgres, as behind a transaction pooler" : "postgres", {
    async open(options) {
      schema = freshSchema();
      const journal = openJournal((await sharedCluster()).url, schema, { ...options, pooler });
      await journal.ping();
      return journal;
    },
    reopen: async (options) => openJournal((await sharedCluster()).url, schema, { ...options, pooler }),
  });
}
