import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { VenturiError } from "../../core/errors/errors.ts";
import type { Caller } from "../../core/ports/channel.ts";
import { type Scope, scopes } from "../../core/ports/scopes.ts";
import { noKey } from "../../core/run/by-whom.ts";
import { defaultTenant } from "../../core/run/run-request.ts";
import type { ServerSettings } from "../config/server.ts";
import type { TokenCheck } from "./jwt.ts";
import type { KeyHolder } from "./key-holder.ts";

const op = "auth.check";

export const anyone: KeyHolder = {
  id: noKey,
  tenant: defaultTenant,
  agents: undefined,
  keyless: true,
  may: new Set(scopes),
  requestsPerMinute: undefined,
  concurrentRuns: undefined,
};

/** Verifies API keys, which are stored only as SHA-256. Compares with every known key in constant time. */
export class Keyring {
  readonly #keys: readonly { digest: Buffer; holder: KeyHolder }[] | undefined;
  readonly #checkToken: TokenCheck | undefined;

  constructor(auth: ServerSettings["auth"], checkToken?: TokenCheck) {
    this.#checkToken = checkToken;
    this.#keys = auth?.keys.map((key) => ({
      digest: Buffer.from(key.sha256, "hex"),
      holder: {
        id: key.id,
        tenant: key.tenant ?? key.id,
        agents: key.agents,
        ...(key.tenants === undefined ? {} : { tenants: key.tenants }),
        ...(key.act === undefined ? {} : { act: key.act }),
        may: new Set(key.may),
        requestsPerMinute: key.requestsPerMinute,
        concurrentRuns: key.concurrentRuns,
        overrides: key.overrides,
      },
    }));
  }

  /**
   * Authenticates by the key or token in the headers. Without `auth` in the config everyone is admitted; with an empty one, no
   * one.
   */
  async identify(headers: IncomingHttpHeaders): Promise<KeyHolder> {
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
    if (found !== undefined) return found;
    if (this.#checkToken !== undefined && looksLikeToken(secret)) return await this.#checkToken(secret);
    throw new VenturiError(op, "unauthorized", "this key is not known here");
  }
}

const looksLikeToken = (secret: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]*$/.test(secret);

/** Throws `forbidden` unless the caller has the scope, and `unauthorized` when its token has expired. */
export function demand(caller: KeyHolder, scope: Scope): void {
  if (caller.expiresAt !== undefined && caller.expiresAt < Date.now()) {
    throw new VenturiError(op, "unauthorized", "this token has expired; request a new one");
  }
  if (caller.may.has(scope)) return;
  throw new VenturiError(
    op,
    "forbidden",
    `this key may not ${scope}; \`may\` of its entry under server.auth says what it may`,
  );
}

export function permit(caller: Caller, agent: string): void {
  if (caller.agents === undefined || caller.agents.includes(agent)) return;
  throw new VenturiError(op, "forbidden", `this key may not use the agent "${agent}"`);
}

/** Browsers cannot set headers on a WebSocket, so the key may be sent as a subprotocol: `venturi, bearer.KEY`. */
function secretIn(headers: IncomingHttpHeaders): string | undefined {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
  if (bearer !== undefined) return bearer;
  const apiKey = headers["x-api-key"];
  if (typeof apiKey === "string" && apiKey !== "") return apiKey;
  return /(?:^|,)\s*bearer\.([^\s,]+)/.exec(headers["sec-websocket-protocol"] ?? "")?.[1];
}
