import { type MessagePort, parentPort } from "node:worker_threads";
import type { ThreadData } from "../../../plugins/sqlite/protocol.ts";
import { serve } from "../../../plugins/sqlite/serve.ts";

parentPort?.on("message", ({ port, data }: { port: MessagePort; data: ThreadData }) => serve(port, data));
