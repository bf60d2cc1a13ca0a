import { ownVersion } from "../host/version.ts";

export const printVersion = (): void => void process.stdout.write(`${ownVersion()}\n`);
