import { VenturiError } from "venturi/plugin";

/** Callers see `why`; where the servers are is for the log, in `cause`. */
export const failed = (op: string, why: string, cause?: unknown): VenturiError =>
  new VenturiError(op, "journal_failed", `the journal's NATS cannot be used: ${why}`, { cause });

/** No retry can succeed. */
export const tooLarge = (op: string, why: string): VenturiError =>
  new VenturiError(op, "record_invalid", `the journal's NATS cannot store it: ${why}`);

/** Permanent: the server or the config must be changed. */
export const unusable = (op: string, why: string, cause?: unknown): VenturiError =>
  new VenturiError(op, "journal_failed", `the journal's NATS will not do: ${why}`, {
    cause,
    details: { unusable: true },
  });

/** Why a connection cannot be made. */
export function explain(thrown: unknown): { message: string; unusable: boolean } {
  if (VenturiError.isInstance(thrown)) return { message: thrown.message, unusable: thrown.details?.unusable === true };
  const what = advice(thrown);
  if (what !== undefined) return { message: `the journal's NATS cannot be used: ${what}`, unusable: true };
  const isLate = thrown instanceof Error && thrown.name === "TimeoutError";
  // With TLS 1.3 a server reports a missing client certificate only after the handshake, and nats.js does not see it.
  const why = isLate ? ": no answer in time; where it asks for a client's certificate, check journal.tls.cert" : "";
  return { message: `the journal's NATS cannot be reached${why}`, unusable: false };
}

function advice(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const { message, name } = thrown;
  const inner = "code" in thrown ? thrown : thrown.cause;
  const code = inner instanceof Error && "code" in inner ? String(inner.code) : "";
  if (name === "AuthorizationError") return "it refuses the credentials; check journal.user, creds, nkey or token";
  if (name === "UserAuthenticationExpiredError") return "the credentials have expired; renew journal.creds";
  if (/does not support 'tls'/.test(message))
    return "it does not speak TLS, and without it nothing is sent; turn it on there, or leave journal.tls out";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return `its certificate is for another name (${message}); check journal.servers, or name it as journal.tls.servername`;
  if (/^ERR_(SSL|OSSL)/.test(code)) return `TLS with it failed (${message}); check journal.tls`;
  if (/CERT|SIGNATURE|CRL|ISSUER/.test(code))
    return `its certificate is not trusted (${message}); check journal.tls.ca`;
  return undefined;
}
