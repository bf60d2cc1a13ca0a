/** The public API for plugin tests: contract suites as mocha cases, a scripted model, a virtual clock. */

export * from "./testing/agent.ts";
export * from "./testing/box.ts";
export * from "./testing/channel.ts";
export * from "./testing/clock.ts";
export { journalContract } from "./testing/journal.ts";
export type { JournalSubject } from "./testing/journal-bench.ts";
export { type MemorySubject, memoryContract } from "./testing/memory.ts";
export * from "./testing/model.ts";
export * from "./testing/provider.ts";
export * from "./testing/scripted-runs.ts";
export * from "./testing/tool.ts";
export * from "./testing/tool-call.ts";
export * from "./testing/venturi.ts";
