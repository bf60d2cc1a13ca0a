import { tooOld } from "./node-version.ts";

const complaint = tooOld(process.versions.node);
if (complaint !== undefined) throw new Error(complaint);
