import { parentPort, workerData } from "node:worker_threads";
import type { ThreadData } from "./protocol.ts";
import { serve } from "./serve.ts";

// A thread of its own, so that a commit blocks nothing else. Loads nothing but its own files: with venturi/plugin it took 250 ms to start.
if (parentPort) serve(parentPort, workerData as ThreadData); // Passed by `StoreThread`.
