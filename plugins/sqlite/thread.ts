import { parentPort, workerData } from "node:worker_threads";
import type { ThreadData } from "./protocol.ts";
import { serve } from "./serve.ts";

// Runs in its own thread, so a commit blocks nothing else. It loads only its own files: with venturi/plugin a start took 250 ms.
if (parentPort) serve(parentPort, workerData as ThreadData); // Passed by `StoreThread`.
