import type { GuardActions, GuardDirection } from "../run/guard-verdict.ts";

/** Receives a text in pieces; together they are the whole text. */
export interface ScanSink {
  plain(text: string): void;
  /** `continues`: the piece belongs to the previous finding. */
  found(text: string, rule: string, continues: boolean): void;
}

/** Scans a text that arrives in arbitrary pieces and passes each character to its sink as soon as it is decided. */
export interface TextScanner {
  push(text: string): void;
  /** The text is complete. */
  end(): void;
}

export interface JudgeContext {
  readonly run: string;
  readonly direction: GuardDirection;
  /** How many calling runs are above this one. */
  readonly depth: number;
  readonly signal: AbortSignal;
}

export interface Judgement {
  readonly ok: boolean;
  readonly reason?: string;
}

/** Finds content that should not pass. The configuration decides what happens: `block`, `redact`, `ask` or `log`. */
export interface ContentGuard {
  /** Creates a scanner for one text. Synchronous; the result must not depend on how the text is split. */
  scanner?(sink: ScanSink): TextScanner;
  /** Judges a complete text, in parallel with the run. */
  judge?(text: string, context: JudgeContext): Promise<Judgement>;
}

/** A guard of an agent, and the action for its findings. */
export interface ActiveGuard {
  readonly name: string;
  readonly guard: ContentGuard;
  readonly actions: GuardActions;
}
