import { ownVersion } from "../host/system/version.ts";

export const printVersion = (): void => void process.stdout.write(`${ownVersion()}\n`);
