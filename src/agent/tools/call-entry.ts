import type { Tool } from "../../core/ports/tool.ts";
import type { CallState } from "../state/round-state.ts";

/** A call from its seal to its result. */
export class CallEntry {
  readonly call: CallState;
  readonly tool: Tool;
  readonly controller = new AbortController();
  /** `deciding`: the tool's own function decides whether a person is asked. */
  #state: "queued" | "deciding" | "asking" | "running" | "settled" = "queued";
  /** What that function decided. */
  #decision: { readonly ask: boolean; readonly reason: string | undefined } | undefined;
  #approved = false;
  #startedAt: number | undefined;
  /** Open questions asked while it runs. */
  #questions = 0;

  constructor(call: CallState, tool: Tool) {
    this.call = call;
    this.tool = tool;
  }

  get state() {
    return this.#state;
  }

  get decision() {
    return this.#decision;
  }

  /** A person has approved it. */
  get approved(): boolean {
    return this.#approved;
  }

  /** Does not wait for an answer. */
  get isWorking(): boolean {
    return this.#state === "deciding" || (this.#state === "running" && this.#questions === 0);
  }

  /** Waits for approval, or for an answer while it runs. */
  get isAsking(): boolean {
    return this.#state === "asking" || (this.#state === "running" && this.#questions > 0);
  }

  get isSettled(): boolean {
    return this.#state === "settled";
  }

  decide(): void {
    this.#state = "deciding";
  }

  decided(ask: boolean | string | undefined): void {
    this.#decision = { ask: ask !== false && ask !== undefined, reason: typeof ask === "string" ? ask : undefined };
    this.#state = "queued";
  }

  ask(): void {
    this.#state = "asking";
  }

  approve(): void {
    this.#approved = true;
    this.#state = "queued";
  }

  start(): void {
    this.#state = "running";
  }

  /** Its start is durable. */
  started(now: number): void {
    this.#startedAt = now;
  }

  questionOpened(): void {
    this.#questions += 1;
  }

  questionClosed(): void {
    this.#questions -= 1;
  }

  settle(): void {
    this.#state = "settled";
  }

  /** A running call settles by itself once it has seen the abort. */
  cancel(reason: Error): void {
    if (this.#state !== "running") this.#state = "settled";
    this.controller.abort(reason);
  }

  /** How long it ran, and how much of that before the generation's end; a cancelled call saved nothing. */
  timeUntil(now: number, generationEnd = now): { readonly ms: number; readonly savedMs: number | undefined } {
    const started = this.#startedAt ?? now;
    const saved = Math.min(now, generationEnd) - started;
    return { ms: now - started, savedMs: saved > 0 && !this.controller.signal.aborted ? saved : undefined };
  }
}
