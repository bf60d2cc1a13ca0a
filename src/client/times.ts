export * from "../core/run/run-times.ts";
export * from "../core/run/time-parts.ts";
