import { VenturiError } from "../../core/errors.ts";

/** Takes the given values out of whatever a server echoes. Short ones are left: they would match by chance. */
export class Secrets {
  readonly #values: readonly string[];

  constructor(values: readonly (string | undefined)[]) {
    this.#values = values.filter((value): value is string => value !== undefined && value.length >= 6);
  }

  scrub(text: string): string {
    let clean = text;
    for (const value of this.#values) clean = clean.replaceAll(value, "[secret]");
    return clean;
  }

  scrubError(error: VenturiError): VenturiError {
    const details = error.details === undefined ? undefined : JSON.stringify(error.details);
    const cleanDetails = details === undefined ? undefined : this.scrub(details);
    const message = this.scrub(error.message);
    const causeIsSafe = error.cause === undefined || VenturiError.isInstance(error.cause);
    if (message === error.message && cleanDetails === details && causeIsSafe) return error;
    return new VenturiError(error.op, error.code, message, {
      ...(cleanDetails !== undefined && { details: JSON.parse(cleanDetails) as Record<string, unknown> }), // it was one before
    });
  }
}
