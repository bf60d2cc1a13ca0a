import type { ScanSink, TextScanner } from "venturi/plugin";
import { type Automaton, type Before, before, endOfText, kindOf, type State } from "./automaton.ts";

/** What to find: an expression, and conditions it cannot express. */
export interface Rule {
  readonly name: string;
  readonly automaton: Automaton;
  /** A match must not begin right after such a character. */
  readonly notAfter?: ((rune: number) => boolean) | undefined;
  /** A match must not end right before such a character. */
  readonly notBefore?: ((rune: number) => boolean) | undefined;
  /** Checks the matched text, such as a checksum. */
  readonly check?: ((text: string) => boolean) | undefined;
}

/** A match that has begun and may continue. */
interface Candidate {
  readonly rule: Rule;
  readonly start: number;
  /** Start of what it still holds back: its beginning, or the end of what was already reported. */
  from: number;
  /** End of its longest match so far. */
  end: number;
  state: State;
}

interface Region {
  readonly start: number;
  readonly end: number;
  readonly rule: string;
  readonly continues: boolean;
}

/** A guard's rules, indexed by the ASCII characters they may begin with. */
export class RuleSet {
  readonly rules: readonly Rule[];
  readonly #starts: (readonly Rule[])[];

  constructor(rules: readonly Rule[]) {
    this.rules = rules;
    this.#starts = Array.from({ length: 128 }, (_, rune) =>
      rules.filter(({ automaton }) => kinds.some((kind) => automaton.initial(kind).step(rune).to !== undefined)),
    );
  }

  startingWith(rune: number): readonly Rule[] {
    return this.#starts[rune] ?? this.rules;
  }
}

const kinds: readonly Before[] = Object.values(before);

/**
 * Reports a character as found if and only if it lies in a match: the longest one of some rule from some position. Works character by
 * character, so that the split into pieces does not matter. A character is passed on once no pending match can cover it; a match still
 * incomplete after `window` characters is given up.
 */
export class RuleScanner implements TextScanner {
  readonly #rules: RuleSet;
  readonly #window: number;
  readonly #sink: ScanSink;
  /** The text from `#given` on. */
  #held = "";
  /** Positions in the text: end of what was passed on, and the next character to scan. */
  #given = 0;
  #at = 0;
  #last = endOfText;
  /** Ordered by start. */
  #candidates: Candidate[] = [];
  #regions: Region[] = [];

  constructor(rules: RuleSet, window: number, sink: ScanSink) {
    this.#rules = rules;
    this.#window = window;
    this.#sink = sink;
  }

  push(text: string): void {
    this.#held = this.#held === "" ? text : this.#held + text;
    const held = this.#held;
    for (let index = this.#at - this.#given; index < held.length; index = this.#at - this.#given) {
      const rune = held.codePointAt(index) ?? 0;
      // Half of a surrogate pair; the other half comes with the next piece.
      if (rune >= 0xd800 && rune <= 0xdbff && index === held.length - 1) break;
      this.#take(rune);
      this.#at += rune > 0xffff ? 2 : 1;
      if (this.#candidates.length > 0) this.#keepWindow();
    }
    this.#give();
  }

  end(): void {
    for (const candidate of this.#candidates) {
      if (candidate.state.step(endOfText).accepts) this.#accept(candidate, endOfText);
      this.#report(candidate);
    }
    this.#candidates = [];
    this.#at = this.#given + this.#held.length;
    this.#give();
  }

  #take(rune: number): void {
    const open = this.#candidates;
    let kept = 0;
    for (const candidate of open) {
      const { accepts, to } = candidate.state.step(rune);
      if (accepts) this.#accept(candidate, rune);
      if (to === undefined) {
        this.#report(candidate);
        continue;
      }
      candidate.state = to;
      open[kept++] = candidate;
    }
    if (kept < open.length) open.length = kept;
    this.#begin(rune);
    this.#last = rune;
  }

  #begin(rune: number): void {
    const rules = this.#rules.startingWith(rune);
    if (rules.length === 0) return;
    const after = this.#last === endOfText ? before.start : kindOf(this.#last);
    for (const rule of rules) {
      if (this.#last !== endOfText && rule.notAfter?.(this.#last) === true) continue;
      const { to } = rule.automaton.initial(after).step(rune);
      if (to === undefined || this.#isCovered(rule, to)) continue;
      this.#candidates.push({ rule, start: this.#at, from: this.#at, end: this.#at, state: to });
    }
  }

  /** An earlier candidate in the same state will end wherever this one would, unless a check tells them apart. */
  #isCovered(rule: Rule, state: State): boolean {
    if (rule.check !== undefined) return false;
    for (const other of this.#candidates) if (other.rule === rule && other.state === state) return true;
    return false;
  }

  #accept(candidate: Candidate, next: number): void {
    const { rule, start } = candidate;
    if (next !== endOfText && rule.notBefore?.(next) === true) return;
    if (rule.check !== undefined) {
      // What was already passed on cannot be checked again.
      if (candidate.from > start) return;
      if (!rule.check(this.#held.slice(start - this.#given, this.#at - this.#given))) return;
    }
    candidate.end = this.#at;
  }

  #report({ rule, start, from, end }: Candidate): void {
    if (end > from) this.#regions.push({ start: from, end, rule: rule.name, continues: from > start });
  }

  /** Holds nothing back longer than the window: a match that continues is reported as far as it has come. */
  #keepWindow(): void {
    const [first] = this.#candidates;
    if (first === undefined) return;
    const oldest = this.#at - this.#window;
    let late = false;
    for (const candidate of this.#candidates) if (candidate.from <= oldest) late = true;
    if (!late) return;
    this.#candidates = this.#candidates.filter((candidate) => {
      if (candidate.from > oldest) return true;
      this.#report(candidate);
      if (candidate.end <= candidate.from) return false;
      candidate.from = candidate.end;
      return true;
    });
  }

  /** Passes on what is decided. */
  #give(): void {
    let decided = this.#at;
    for (const { from } of this.#candidates) if (from < decided) decided = from;
    if (this.#regions.length > 0) this.#giveRegions(decided);
    if (decided > this.#given) this.#sink.plain(this.#upTo(decided));
  }

  #giveRegions(decided: number): void {
    const regions = this.#regions.sort((left, right) => left.start - right.start || right.end - left.end);
    this.#regions = [];
    for (const region of regions) {
      if (region.start >= decided) this.#regions.push(region);
      else if (region.end > this.#given) {
        const continues = region.continues || region.start < this.#given;
        if (region.start > this.#given) this.#sink.plain(this.#upTo(region.start));
        this.#sink.found(this.#upTo(region.end), region.rule, continues);
      }
    }
  }

  #upTo(position: number): string {
    const length = position - this.#given;
    const text = this.#held.slice(0, length);
    this.#held = length === this.#held.length ? "" : this.#held.slice(length);
    this.#given = position;
    return text;
  }
}
