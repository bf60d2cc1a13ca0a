import type { Tool } from "../../core/ports/tool.ts";
import type { CallState } from "../state/round-state.ts";

/** A tool call from sealed to finished. */
export class CallEntry {
  readonly call: CallState;
  readonly tool: Tool;
  readonly controller = new AbortController();
  /** `deciding`: the tool's own function is deciding whether to ask a person. */
  #state: "queued" | "deciding" | "asking" | "running" | "settled" = "queued";
  /** The result of that function. */
  #decision: { readonly ask: boolean; readonly reason: string | undefined } | undefined;
  #approved = false;
  #startedAt: number | undefined;
  /** Number of open questions asked while it runs. */
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

  get approved(): boolean {
    return this.#approved;
  }

  /** Whether it is running and not waiting for an answer. */
  get isWorking(): boolean {
    return this.#state === "deciding" || (this.#state === "running" && this.#questions === 0);
  }

  /** Whether it waits for approval, or for an answer while it runs. */
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

  /** Called once its start is durable. */
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

  /** A running call settles by itself after the abort. */
  cancel(reason: Error): void {
    if (this.#state !== "running") this.#state = "settled";
    this.controller.abort(reason);
  }

  /** Run time, and how much of it overlapped with the generation; a cancelled call saved nothing. */
  timeUntil(now: number, generationEnd = now): { readonly ms: number; readonly savedMs: number | undefined } {
    const started = this.#startedAt ?? now;
    const saved = Math.min(now, generationEnd) - started;
    return { ms: now - started, savedMs: saved > 0 && !this.controller.signal.aborted ? saved : undefined };
  }
}
