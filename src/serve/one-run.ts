import { VenturiError } from "../core/errors/errors.ts";

/** One stream shows one run: answers to another one would be taken and never shown. */
export function mustBeOfOneRun(answers: readonly { readonly run: string }[]): void {
  if (new Set(answers.map(({ run }) => run)).size <= 1) return;
  throw new VenturiError(
    "run.resume",
    "invalid_input",
    "these are answers to several runs; send them one run at a time",
  );
}
