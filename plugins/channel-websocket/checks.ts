import { VenturiError } from "venturi/plugin";

export const op = "socket.receive";

export const publicError = (error: VenturiError) =>
  error.code === "internal" ? { op, code: "internal", err: "a fault of the service itself" } : error.toJSON();

export function mustFit({ as, sentences }: { readonly as: "messages" | "events"; readonly sentences: boolean }): void {
  if (as === "messages" || !sentences) return;
  throw new VenturiError(op, "invalid_input", 'sentences: events are sent as they are; leave out `as: "events"`');
}

export function mustArrive(arrived: boolean): void {
  if (!arrived) throw new VenturiError(op, "conflict", "the run has ended, or this was answered before");
}
