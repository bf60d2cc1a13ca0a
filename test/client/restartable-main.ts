import { createInterface } from "node:readline";
import { Restartable } from "./restartable.ts";

/** The service as the clients' tests use it, for tests in other languages: prints its address; `restart` kills and starts it. */
const service = await Restartable.start(process.argv[2] ?? "");
process.stdout.write(`${service.url}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  if (line !== "restart") continue;
  await service.kill();
  await service.begin();
  process.stdout.write("restarted\n");
}
await service.stop();
process.exit(0);
