import { messageOf, VenturiError } from "../errors/errors.ts";
import type { Digest } from "../run/digest.ts";
import type { RunEvent } from "../run/events.ts";
import type { RunRequest } from "../run/run-request.ts";
import type { RunRow } from "../run/run-row.ts";
import type { Claim, Signal } from "./journal.ts";

/** Reads records back from a journal. A damaged record affects only its own run; it must never prevent other rows from being read. */

/** A run's request for a claim. */
export function claimedRequest(json: string, agent: string): Pick<Claim, "request" | "unreadable"> {
  try {
    return { request: readRequest(json) };
  } catch (thrown) {
    return { request: { agent, input: {} }, unreadable: damaged("journal.claim", "the run's request", thrown) };
  }
}

/** A run's request for a list; without the input if it cannot be read. */
export function listedRequest(json: string, agent: string): RunRow["request"] {
  try {
    return readRequest(json);
  } catch {
    return { agent, input: {} };
  }
}

/** A digest that cannot be read is left out: `venturi reindex` writes it again. */
export function storedDigest(json: string | null | undefined): Pick<RunRow, "digest"> {
  if (json === null || json === undefined) return {};
  try {
    return { digest: JSON.parse(json) as Digest }; // Written from a Digest.
  } catch {
    return {};
  }
}

/** Rejects with `record_invalid` when the record is damaged. */
export function storedEvents(lines: readonly string[]): RunEvent[] {
  return lines.map((line, index) => {
    try {
      return JSON.parse(line) as RunEvent; // Written from a RunEvent.
    } catch (thrown) {
      throw damaged("journal.read", `line ${index + 1} of a record`, thrown);
    }
  });
}

/** Body of a signal, or empty if it cannot be read: a cancel is still a cancel, and an approval then approves nothing. */
export function storedBody(json: string): Signal["body"] {
  try {
    return JSON.parse(json) as Signal["body"]; // Written from a signal's body.
  } catch {
    return {};
  }
}

function readRequest(json: string): RunRequest {
  const request: unknown = JSON.parse(json);
  if (typeof request !== "object" || request === null || !("input" in request)) throw new Error("it is no request");
  return request as RunRequest; // Written from a RunRequest.
}

const damaged = (op: string, what: string, thrown: unknown): VenturiError =>
  new VenturiError(op, "record_invalid", `${what} is damaged: ${messageOf(thrown)}`, { cause: thrown });
