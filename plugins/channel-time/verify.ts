import { createHash, createHmac } from "node:crypto";
import type { InboundOptions } from "./inbound-options.ts";
import { same, signature } from "./sign.ts";

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

export interface Inbound {
  readonly headers: Headers;
  readonly body: Buffer;
  /** By our clock, ms. */
  readonly now: number;
}

/** Why a request does not come from the other system; undefined if it does. Clients get the same error for all reasons. */
export function problemWith(
  inbound: Inbound,
  options: Pick<InboundOptions, "from" | "secret" | "tolerance">,
): string | undefined {
  const secrets = [options.secret].flat();
  const { timestamp, given, expected } = schemes[options.from](inbound, secrets);
  if (given.length === 0) return "it has no signature";
  if (timestamp !== undefined) {
    if (!/^\d{1,12}$/.test(timestamp)) return "its time is no number of seconds";
    // In both directions: a future time would keep a copy valid for longer.
    if (Math.abs(inbound.now - Number(timestamp) * 1_000) > options.tolerance) return "its time is too far from ours";
  }
  let isSigned = false;
  // Compares all, so that timing does not reveal which matched.
  for (const each of given) for (const one of expected) isSigned = same(each, one) || isSigned;
  return isSigned ? undefined : "its signature is another one";
}

interface Scheme {
  /** Seconds; undefined if the scheme has no timestamp. */
  readonly timestamp: string | undefined;
  readonly given: readonly string[];
  readonly expected: readonly string[];
}

const hex = (secret: string, ...pieces: (string | Buffer)[]): string => {
  const hmac = createHmac("sha256", secret);
  for (const piece of pieces) hmac.update(piece);
  return hmac.digest("hex");
};

const header = (headers: Headers, name: string): string => {
  const value = headers[name];
  return typeof value === "string" ? value : "";
};

/** Maximum signatures per header; more are refused without computing. */
const most = 8;

const schemes: Readonly<Record<InboundOptions["from"], (inbound: Inbound, secrets: readonly string[]) => Scheme>> = {
  /** webhook-id, webhook-timestamp, webhook-signature: `v1,BASE64 v1,BASE64`. */
  standard: ({ headers, body }, secrets) => {
    const id = header(headers, "webhook-id");
    const timestamp = header(headers, "webhook-timestamp");
    const given = header(headers, "webhook-signature")
      .split(" ")
      .filter((each) => each.startsWith("v1,"));
    const expected = id === "" ? [] : secrets.map((secret) => signature(secret, { id, timestamp, body }));
    return { timestamp, given: given.slice(0, most), expected };
  },
  /** X-Hub-Signature-256: `sha256=HEX` of the body. */
  github: ({ headers, body }, secrets) => {
    const given = header(headers, "x-hub-signature-256");
    const expected = secrets.map((secret) => `sha256=${hex(secret, body)}`);
    return { timestamp: undefined, given: given === "" ? [] : [given], expected };
  },
  /** Stripe-Signature: `t=SECONDS,v1=HEX,v1=HEX,v0=…` of `SECONDS.BODY`. */
  stripe: ({ headers, body }, secrets) => {
    const pieces = header(headers, "stripe-signature")
      .split(",")
      .slice(0, 2 * most)
      .map((piece) => piece.trim().split("="));
    const timestamp = pieces.find(([key]) => key === "t")?.[1] ?? "";
    const given = pieces.filter(([key]) => key === "v1").map(([, value = ""]) => value);
    return { timestamp, given, expected: secrets.map((secret) => hex(secret, `${timestamp}.`, body)) };
  },
  /** X-Slack-Request-Timestamp, X-Slack-Signature: `v0=HEX` of `v0:SECONDS:BODY`. */
  slack: ({ headers, body }, secrets) => {
    const timestamp = header(headers, "x-slack-request-timestamp");
    const given = header(headers, "x-slack-signature");
    const expected = secrets.map((secret) => `v0=${hex(secret, `v0:${timestamp}:`, body)}`);
    return { timestamp, given: given === "" ? [] : [given], expected };
  },
};

/**
 * Identifies a delivery, however often it is sent. GitHub's delivery id is not signed, so a copy with another id would count as new; the
 * body is signed, and contains an id, time or commit.
 */
export function idOf(from: InboundOptions["from"], { headers, body }: Inbound, parsed: unknown): string {
  const field = (name: string): string => {
    const value = typeof parsed === "object" && parsed !== null ? Reflect.get(parsed, name) : undefined;
    return typeof value === "string" && value !== "" && value.length <= 200 ? value : hashOf(body);
  };
  switch (from) {
    case "standard": {
      const id = header(headers, "webhook-id");
      return id.length <= 200 ? id : hashOf(Buffer.from(id));
    }
    case "github":
      return hashOf(body);
    case "stripe":
      return field("id");
    case "slack":
      return field("event_id");
  }
}

const hashOf = (body: Buffer): string => createHash("sha256").update(body).digest("hex");

export function kindOf(from: InboundOptions["from"], { headers }: Inbound, parsed: unknown): string {
  if (from === "github") return header(headers, "x-github-event");
  const body = (parsed ?? {}) as { type?: unknown; event?: { type?: unknown } | null }; // Read as unknown below.
  const kind = from === "slack" ? (body.event?.type ?? body.type) : body.type;
  return typeof kind === "string" ? kind : "";
}
