import { createInterface } from "node:readline";
import { systemClock } from "../../src/core/ports/clock.ts";
import { silentLog } from "../../src/core/ports/log.ts";
import { openService } from "../../src/host/service.ts";

/** One replica whose wall clock runs faster, stops, and is set by its parent: `node replica.js CONFIG START BEGAN SPEED END`. */
const [, , configFile = "", start = "", began = "", speed = "", end = ""] = process.argv;
let ahead = 0;
const clock = {
  ...systemClock,
  now: () => Math.floor(Math.min(Number(start) + (Date.now() - Number(began)) * Number(speed), Number(end)) + ahead),
};
const service = await openService({ configFile, env: process.env, log: silentLog, clock });
process.stdout.write(`ready ${service.url}\n`);
createInterface({ input: process.stdin }).on("line", (line) => {
  const [word, value] = line.split(" ");
  if (word === "ahead") ahead = Number(value);
  if (word === "heap") {
    globalThis.gc?.();
    process.stdout.write(`heap ${process.memoryUsage().heapUsed}\n`);
  }
});
process.stdin.on("end", () => process.exit(0));
