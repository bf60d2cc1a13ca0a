import { postgresContract } from "./contract.ts";

postgresContract("postgres", { pooler: false });
