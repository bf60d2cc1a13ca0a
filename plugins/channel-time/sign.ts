import { createHmac, timingSafeEqual } from "node:crypto";

/** The bytes of a Standard Webhooks secret: base64 after `whsec_`, otherwise the text itself. */
export const secretBytes = (secret: string): Buffer =>
  secret.startsWith("whsec_") ? Buffer.from(secret.slice("whsec_".length), "base64") : Buffer.from(secret);

export interface Signed {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly timestamp: string;
  readonly body: string | Uint8Array;
}

/** The `v1` signature of Standard Webhooks. */
export const signature = (secret: string, { id, timestamp, body }: Signed): string =>
  `v1,${createHmac("sha256", secretBytes(secret)).update(`${id}.${timestamp}.`).update(body).digest("base64")}`;

export function signedHeaders(secrets: readonly string[], signed: Signed): Record<string, string> {
  return {
    "webhook-id": signed.id,
    "webhook-timestamp": signed.timestamp,
    "webhook-signature": secrets.map((secret) => signature(secret, signed)).join(" "),
  };
}

/** Constant-time comparison for texts of these lengths. */
export function same(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}
