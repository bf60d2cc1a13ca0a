// For the console's page: the fold without the rest of `venturi/internal`, which a browser would have to load.

export { byWhom, whoIn } from "./core/run/by-whom.ts";
export type { RunEvent as FoldedEvent } from "./core/run/events.ts";
export * from "./core/run/run-fold.ts";
export { isPiece } from "./core/run/time-parts.ts";
