import type { JWTPayload } from "jose";
import type { z } from "zod";
import { messageOf, VenturiError } from "../../core/errors/errors.ts";
import { type Scope, scopes } from "../../core/ports/scopes.ts";
import { shadowTenant } from "../../core/run/shadow.ts";
import type { JwtSettings } from "../config/server.ts";
import type { KeyHolder } from "./key-holder.ts";

const op = "auth.check";

/** Asymmetric signatures only: neither `none` nor any that could be forged with a public key. */
const algorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];

/** Clock skew tolerance, seconds. */
const clockTolerance = 5;

export type TokenCheck = (token: string) => Promise<KeyHolder>;

/** Verifies tokens of one issuer against its published keys, which are refetched when an unknown key id appears. */
export async function tokenCheck(settings: z.output<typeof JwtSettings>, cooldown = 5_000): Promise<TokenCheck> {
  const { createRemoteJWKSet, jwtVerify, errors } = await import("jose");
  const keys = createRemoteJWKSet(new URL(settings.jwks), { cooldownDuration: cooldown, timeoutDuration: 5_000 });
  const { issuer, audience } = settings;
  return async (token) => {
    try {
      const requiredClaims = ["exp", "sub"];
      const options = { issuer, audience, algorithms, requiredClaims, clockTolerance };
      return holderOf((await jwtVerify(token, keys, options)).payload, settings);
    } catch (thrown) {
      if (VenturiError.isInstance(thrown)) throw thrown;
      // A failure to reach the issuer is not the caller's fault.
      const itsFault = thrown instanceof errors.JOSEError && !(thrown instanceof errors.JWKSTimeout);
      if (itsFault && thrown.code !== "ERR_JOSE_GENERIC") {
        throw new VenturiError(op, "unauthorized", `this token is not accepted: ${messageOf(thrown)}`);
      }
      throw new VenturiError(op, "unavailable", "the issuer's keys cannot be read now; try again later", {
        cause: thrown,
        details: { retryAfterMs: 1000 },
      });
    }
  };
}

function holderOf(claims: JWTPayload, settings: z.output<typeof JwtSettings>): KeyHolder {
  const id = `jwt:${subjectIn(claims)}`;
  return {
    id,
    tenant: settings.tenant === undefined ? id : textIn(claims, settings.tenant),
    agents: settings.agents,
    may: settings.may === undefined ? new Set(settings.mayAlways) : scopesIn(claims, settings.may),
    requestsPerMinute: settings.requestsPerMinute,
    concurrentRuns: settings.concurrentRuns,
    overrides: settings.overrides,
    expiresAt: (claims.exp ?? 0) * 1000,
  };
}

/** By OpenID Connect, a text of at most 255 characters. Anything else could be spelled like another subject. */
function subjectIn({ sub }: JWTPayload): string {
  const given: unknown = sub;
  if (typeof given === "string" && given !== "" && given.length <= 255) return given;
  throw new VenturiError(op, "unauthorized", 'this token is not accepted: "sub" is a text of 1 to 255 characters');
}

function textIn(claims: JWTPayload, name: string): string {
  const value = claims[name];
  if (typeof value === "string" && value !== "" && value.length <= 128 && value !== shadowTenant) return value;
  throw new VenturiError(
    op,
    "unauthorized",
    `this token is not accepted: it needs a claim "${name}" of 1 to 128 characters`,
  );
}

/** A list, or space-separated text as in OAuth. Unknown scopes are ignored. */
function scopesIn(claims: JWTPayload, name: string): ReadonlySet<Scope> {
  const value = claims[name];
  const named: readonly unknown[] = typeof value === "string" ? value.split(" ") : Array.isArray(value) ? value : [];
  return new Set(scopes.filter((scope) => named.includes(scope) || named.includes(`venturi:${scope}`)));
}
