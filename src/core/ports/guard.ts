import type { GuardActions, GuardDirection } from "../run/guard-verdict.ts";

/** Takes a text apart: together, the pieces given to it are the text. */
export interface ScanSink {
  plain(text: string): void;
  /** `continues`: it belongs to the finding before. */
  found(text: string, rule: string, continues: boolean): void;
}

/** Reads one text, in whatever pieces it comes, and gives each character to its sink as soon as it is decided. */
export interface TextScanner {
  push(text: string): void;
  /** Nothing follows. */
  end(): void;
}

export interface JudgeContext {
  readonly run: string;
  readonly direction: GuardDirection;
  /** How many runs called each other on the way to this one. */
  readonly depth: number;
  readonly signal: AbortSignal;
}

export interface Judgement {
  readonly ok: boolean;
  readonly reason?: string;
}

/** Finds what should not pass. What becomes of it is the configuration's: `block`, `redact`, `ask` or `log`. */
export interface ContentGuard {
  /** The result must not depend on how the text is cut. Called for each text, synchronously. */
  scanner?(sink: ScanSink): TextScanner;
  /** Judges a text as a whole, while the run goes on. */
  judge?(text: string, context: JudgeContext): Promise<Judgement>;
}

/** A guard of an agent, and what becomes of its findings. */
export interface ActiveGuard {
  readonly name: string;
  readonly guard: ContentGuard;
  readonly actions: GuardActions;
}
