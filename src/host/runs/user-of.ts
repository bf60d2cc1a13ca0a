import { beginning } from "../../core/run/digest.ts";
import type { RunRequest } from "../../core/run/run-request.ts";

/** The user a run is for. A token's subject cannot be chosen by the client; with an API key, the calling program states it. */
export function userOf({ metadata }: RunRequest, caller: string | undefined): string | undefined {
  if (caller?.startsWith("jwt:")) return caller.slice(4);
  const user = metadata?.user;
  return typeof user === "string" && user !== "" ? beginning(user, 128) : undefined;
}
