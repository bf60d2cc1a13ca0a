import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { z } from "zod";
import type { Caller } from "../../core/channel.ts";
import { VenturiError } from "../../core/errors.ts";
import { defaultTenant } from "../../core/journal.ts";
import type { Key } from "../config/server.ts";

const op = "auth.check";

/** A caller with the limits of its key. */
export interface KeyHolder extends Caller {
  readonly requestsPerMinute: number | undefined;
  readonly concurrentRuns: number | undefined;
}

export const anyone: KeyHolder = {
  id: "anyone",
  tenant: defaultTenant,
  agents: undefined,
  requestsPerMinute: undefined,
  concurrentRuns: undefined,
};

/** Keys are known by their SHA-256 only. Every known key is compared, in constant time, whichever one matches. */
export class Keyring {
  readonly #keys: readonly { digest: Buffer; holder: KeyHolder }[] | undefined;

  constructor(keys: readonly z.output<typeof Key>[] | undefined) {
    this.#keys = keys?.map((key) => ({
      digest: Buffer.from(key.sha256, "hex"),
      holder: {
        id: key.id,
        tenant: key.tenant ?? key.id,
        agents: key.agents,
        requestsPerMinute: key.requestsPerMinute,
        concurrentRuns: key.concurrentRuns,
      },
    }));
  }

  /** Whose key the headers carry. Without `auth` in the config everyone is let in; with an empty list, no one. */
  identify(headers: IncomingHttpHeaders): KeyHolder {
    if (this.#keys === undefined) return anyone;
    const secret = secretIn(headers);
    if (secret === undefined) {
      throw new VenturiError(op, "unauthorized", "send your key as `Authorization: Bearer KEY`");
    }
    const digest = createHash("sha256").update(secret).digest();
    let found: KeyHolder | undefined;
    for (const key of this.#keys) {
      if (key.digest.length === digest.length && timingSafeEqual(key.digest, digest)) found ??= key.holder;
    }
    if (found === undefined) throw new VenturiError(op, "unauthorized", "this key is not known here");
    return found;
  }
}

export function permit(caller: Caller, agent: string): void {
  if (caller.agents === undefined || caller.agents.includes(agent)) return;
  throw new VenturiError(op, "forbidden", `this key may not use the agent "${agent}"`);
}

/** Browsers cannot set headers on a WebSocket, so there the key may be a subprotocol: `venturi, bearer.KEY`. */
function secretIn(headers: IncomingHttpHeaders): string | undefined {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
  if (bearer !== undefined) return bearer;
  const apiKey = headers["x-api-key"];
  if (typeof apiKey === "string" && apiKey !== "") return apiKey;
  return /(?:^|,)\s*bearer\.([^\s,]+)/.exec(headers["sec-websocket-protocol"] ?? "")?.[1];
}
