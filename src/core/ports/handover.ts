import { VenturiError } from "../errors/errors.ts";

/** Whether a call is aborted because its run is parked or moves to another worker, which will continue the call's work. */
export const isHandover = (reason: unknown): boolean =>
  VenturiError.isInstance(reason) &&
  (reason.details?.parked === true || ["shutting_down", "journal_failed", "conflict"].includes(reason.code));
