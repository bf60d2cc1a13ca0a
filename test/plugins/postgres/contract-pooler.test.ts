import { postgresContract } from "./contract.ts";

postgresContract("postgres, as behind a transaction pooler", { pooler: true });
