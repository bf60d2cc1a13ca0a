import { VenturiError } from "../../core/errors/errors.ts";

export const truncated = (): VenturiError =>
  new VenturiError("provider.stream", "stream_error", "the stream ended before its own end; it was truncated");

export const changedArguments = (name: string): VenturiError =>
  new VenturiError(
    "provider.stream",
    "stream_error",
    `the provider changed the arguments of "${name}" after it had sent them`,
  );
