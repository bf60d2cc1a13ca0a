import { UnusableDatabase } from "./schema.ts";

/** SQLSTATE classes and codes with actionable advice. */
const advice: readonly (readonly [prefix: string, what: string])[] = [
  ["28", "it refuses the user or the password; check journal.url"],
  ["3D", "the database does not exist; create it, or check journal.url"],
  ["42P05", "a transaction pooler stands before it; set journal.pooler to true"],
  ["26000", "a transaction pooler stands before it; set journal.pooler to true"],
  ["42501", "its user lacks a right; grant it CREATE on the database, or create the schema for it"],
  ["25006", "it is read-only; it may be a standby that has not been promoted yet"],
  ["53100", "its disk is full"],
  ["53300", "it has no connection left; lower journal.pool or raise max_connections"],
  ["55P03", "a transaction before this one does not end; if it has a synchronous standby, see whether that answers"],
  ["57P", "it is shutting down or starting up"],
];

const queueAdvice =
  "its queue of notifications is full; end the transaction of the session that listens and does not read them (pg_stat_activity)";

/** Safe to retry: serialisation failure, deadlock. */
const transient: ReadonlySet<string> = new Set(["40001", "40P01"]);

export const isTransient = (thrown: unknown): boolean => transient.has(stateOf(thrown));

/** The queue of notifications, which all databases of the server share. Its state is that of values that are too large; its file is not. */
export const isQueueFull = (thrown: unknown): boolean =>
  stateOf(thrown) === "54000" && thrown instanceof Error && "file" in thrown && thrown.file === "async.c";

/** A value no retry will make acceptable: not storable as text, out of range, too large. */
export const isPermanent = (thrown: unknown): boolean => /^(22|54)/.test(stateOf(thrown)) && !isQueueFull(thrown);

/** Anything without a SQLSTATE came from the connection; some SQLSTATEs also end it. */
export function isConnectionLost(thrown: unknown): boolean {
  if (thrown instanceof UnusableDatabase || isPermanent(thrown)) return false;
  const state = stateOf(thrown);
  return state === "" || state.startsWith("08") || state.startsWith("57P") || state === "25006";
}

/** Permanent: no retry helps; with several servers, none of them is usable. */
function isUnusable(thrown: unknown): boolean {
  if (thrown instanceof AggregateError) return thrown.errors.every(isUnusable);
  if (thrown instanceof UnusableDatabase || setupAdvice(thrown) !== undefined) return true;
  return /^(28|3D|42501)/.test(stateOf(thrown));
}

export function explain(thrown: unknown): { message: string; unusable: boolean } {
  return { message: tell(thrown), unusable: isUnusable(thrown) };
}

function tell(thrown: unknown): string {
  if (thrown instanceof UnusableDatabase) return thrown.message;
  // Several servers, or several addresses of one: each has its own reason.
  if (thrown instanceof AggregateError) return [...new Set(thrown.errors.map(tell))].join("; ");
  const state = stateOf(thrown);
  const said = thrown instanceof Error ? thrown.message : String(thrown);
  const known = isQueueFull(thrown) ? queueAdvice : advice.find(([prefix]) => state.startsWith(prefix))?.[1];
  const what = setupAdvice(thrown) ?? known;
  if (what !== undefined) return `the journal's database cannot be used: ${what}`;
  if (state === "") return "the journal's database cannot be reached"; // Where it is, the cause says to the log.
  return `the journal's database failed: ${said} (${state})`;
}

/** Why a connection cannot be made at all: mostly certificate errors from OpenSSL and Node. */
function setupAdvice(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const code = "code" in thrown ? String(thrown.code) : "";
  const { message } = thrown;
  if (code === "ERR_INVALID_URL")
    return "journal.url is not a database URL; write postgres://user:password@host:5432/database";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
    return `its certificate is for another name (${message}); check the host in journal.url, or name it as journal.tls.servername`;
  }
  if (/^ERR_(SSL|OSSL)/.test(code)) return `TLS with it failed (${message}); check journal.tls`;
  if (/CERT|SIGNATURE|CRL|ISSUER/.test(code))
    return `its certificate is not trusted (${message}); check journal.tls.ca`;
  if (message === "The server does not support SSL connections") {
    return "it does not speak TLS, and without it nothing is sent; turn it on there, or leave journal.tls out";
  }
  if (code === "28000" && /no encryption|SSL off|client certificate/.test(message)) {
    return `it asks for TLS or for a client's certificate (${message}); check journal.tls`;
  }
  return undefined;
}

/** A five-character SQLSTATE; Node's codes (ECONNRESET, EPIPE) are not. */
function stateOf(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  return /^(?!E)[0-9A-Z]{5}$/.test(code) ? code : "";
}
