import { signal } from "@preact/signals";

/** The part of the time that a sentence is about, highlighted in the ribbon. */
export const lit = signal<{ readonly part: string; readonly name: string } | undefined>(undefined);
