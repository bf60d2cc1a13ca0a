import { natsContract } from "../plugins/nats/contract.ts";

/** NATS_SHARDS=1 leaves out journals in several streams. */
const shards = (process.env.NATS_SHARDS ?? "1,4").split(",").map(Number);
for (const size of [1, 3] as const) for (const count of shards) natsContract(size, count);
