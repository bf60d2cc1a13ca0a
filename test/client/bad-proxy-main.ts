import { BadProxy } from "./bad-proxy.ts";

/** The proxy as a process, for tests in other languages: prints its address, ends with its input. */
const proxy = await BadProxy.start(process.argv[2] ?? "");
process.stdout.write(`${proxy.url}\n`);
process.stdin.resume().on("end", () => process.exit(0));
