import { VenturiError } from "../../core/errors/errors.ts";
import { redactor } from "../../core/values/redact.ts";

/** Redacts the given values from whatever a server echoes. */
export class Secrets {
  readonly scrub: (text: string) => string;

  constructor(values: readonly (string | undefined)[]) {
    const masks = values.map((value) => redactor({ secret: value }));
    this.scrub = (text) => masks.reduce((clean, mask) => mask(clean), text);
  }

  scrubError(error: VenturiError): VenturiError {
    const details = error.details === undefined ? undefined : JSON.stringify(error.details);
    const cleanDetails = details === undefined ? undefined : this.scrub(details);
    const message = this.scrub(error.message);
    const causeIsSafe = error.cause === undefined || VenturiError.isInstance(error.cause);
    if (message === error.message && cleanDetails === details && causeIsSafe) return error;
    return new VenturiError(error.op, error.code, message, {
      ...(cleanDetails !== undefined && { details: JSON.parse(cleanDetails) as Record<string, unknown> }), // was one before
    });
  }
}
