import { memory } from "../journal/setup.ts";
import { openJournal } from "../plugins/postgres/open.ts";
import { freshSchema, sharedCluster } from "../plugins/postgres/shared.ts";
import { datasetQueries } from "./queries.ts";

datasetQueries("in memory", async () => memory());
datasetQueries("in PostgreSQL", async () => {
  const journal = openJournal((await sharedCluster()).url, freshSchema());
  await journal.ping();
  return journal;
});
