import { findServer, missing } from "./server.ts";

// The journal's contract and everything else about NATS takes minutes; it is `npm run test:nats`.
it(findServer() === undefined ? missing : "the NATS journal is tested by npm run test:nats");
