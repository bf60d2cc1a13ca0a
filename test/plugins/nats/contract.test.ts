import { natsContract } from "./contract.ts";
import { findServer, missing } from "./server.ts";

if (findServer() === undefined) it(missing);
else natsContract(1, 1);
