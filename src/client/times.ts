export * from "../core/run/run-times.ts";
