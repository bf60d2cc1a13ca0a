import { beginning } from "../../core/run/digest.ts";
import type { RunRequest } from "../../core/run/run-request.ts";

/** A token's subject cannot be chosen by the client; with a key, its program says whom a run is for. */
export function userOf({ metadata }: RunRequest, caller: string | undefined): string | undefined {
  if (caller?.startsWith("jwt:")) return caller.slice(4);
  const user = metadata?.user;
  return typeof user === "string" && user !== "" ? beginning(user, 128) : undefined;
}
