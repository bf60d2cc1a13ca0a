import { natsContract } from "../plugins/nats/contract.ts";

for (const size of [1, 3] as const) for (const shards of [1, 4]) natsContract(size, shards);
