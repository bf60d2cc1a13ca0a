import { RE2JS } from "re2js";

/** What precedes a position; `\b` and `^` depend on it. */
export const before = { start: 0, newline: 1, word: 2, other: 3 } as const;
export type Before = (typeof before)[keyof typeof before];

/** Pseudo-character for the end of the text. */
export const endOfText = -1;

export interface Step {
  /** The text before this character is a match. */
  readonly accepts: boolean;
  /** Undefined when no match can continue with it. */
  readonly to: State | undefined;
}

/** An instruction of a program that RE2 compiled. */
interface Instruction {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  matchRune(rune: number): boolean;
}
interface Program {
  readonly inst: readonly Instruction[];
  readonly start: number;
  readonly numLb: number;
}

/** Opcodes of RE2's programs. */
const op = { alt: 1, altMatch: 2, capture: 3, emptyWidth: 4, fail: 5, match: 6, nop: 7 } as const;
const width = { beginLine: 1, endLine: 2, beginText: 4, endText: 8, boundary: 16, noBoundary: 32 } as const;

const mostStates = 2_000;
const longestProgram = 4_000;

/**
 * Executes an expression's RE2 program one character at a time, for a text that is still being written. States are created on first use, as
 * in RE2's own DFA; after that each character costs one lookup.
 */
export class Automaton {
  readonly #program: Program;
  readonly #states = new Map<string, State>();
  readonly #initial: readonly State[];

  constructor(expression: string) {
    // The internals of the pinned version; a test checks their shape.
    const { prog } = (RE2JS.compile(expression) as unknown as { re2Input: { prog: Program } }).re2Input;
    if (prog.numLb > 0) throw new Error("looking behind is not supported");
    if (prog.inst.length > longestProgram) throw new Error("it is too large: shorten its repetitions");
    this.#program = prog;
    this.#initial = Object.values(before).map((after) => new State(this, [prog.start], after));
  }

  initial(after: Before): State {
    return this.#initial[after] as State; // One per entry of `before`.
  }

  /** The transition from a state for a character it has not seen yet. */
  step(state: State, rune: number): Step {
    const { inst } = this.#program;
    const holds = assertions(state.before, rune);
    const next = new Set<number>();
    const seen = new Set<number>();
    const open = [...state.nodes];
    let accepts = false;
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      const at = inst[node];
      if (at === undefined || seen.has(node)) continue;
      seen.add(node);
      if (at.op === op.match) accepts = true;
      else if (at.op === op.alt || at.op === op.altMatch) open.push(at.out, at.arg);
      else if (at.op === op.capture || at.op === op.nop) open.push(at.out);
      else if (at.op === op.emptyWidth) {
        if ((at.arg & ~holds) === 0) open.push(at.out);
      } else if (at.op !== op.fail && rune !== endOfText && at.matchRune(rune)) next.add(at.out);
    }
    const to =
      next.size === 0
        ? undefined
        : this.#state(
            [...next].sort((a, b) => a - b),
            kindOf(rune),
          );
    return { accepts, to };
  }

  #state(nodes: readonly number[], after: Before): State {
    const key = `${after} ${nodes.join(" ")}`;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    // States in use stay valid; they are only created again.
    if (this.#states.size >= mostStates) this.#states.clear();
    const made = new State(this, nodes, after);
    this.#states.set(key, made);
    return made;
  }
}

export class State {
  readonly nodes: readonly number[];
  readonly before: Before;
  readonly #automaton: Automaton;
  /** Cached transitions for ASCII characters. */
  readonly #steps: (Step | undefined)[] = new Array(128).fill(undefined);
  #others: Map<number, Step> | undefined;

  constructor(automaton: Automaton, nodes: readonly number[], after: Before) {
    this.#automaton = automaton;
    this.nodes = nodes;
    this.before = after;
  }

  step(rune: number): Step {
    if (rune >= 0 && rune < 128) {
      const known = this.#steps[rune];
      if (known !== undefined) return known;
      const made = this.#automaton.step(this, rune);
      this.#steps[rune] = made;
      return made;
    }
    const known = this.#others?.get(rune);
    if (known !== undefined) return known;
    const made = this.#automaton.step(this, rune);
    this.#others ??= new Map();
    if (this.#others.size >= 512) this.#others.clear();
    this.#others.set(rune, made);
    return made;
  }
}

export function kindOf(rune: number): Before {
  if (rune === 10) return before.newline;
  return isWord(rune) ? before.word : before.other;
}

export const isDigit = (rune: number): boolean => rune >= 48 && rune <= 57;

/** ASCII only, as in RE2. */
export const isWord = (rune: number): boolean =>
  (rune >= 97 && rune <= 122) || (rune >= 65 && rune <= 90) || isDigit(rune) || rune === 95;

function assertions(after: Before, rune: number): number {
  const boundary = (after === before.word) !== isWord(rune);
  let holds: number = boundary ? width.boundary : width.noBoundary;
  if (after === before.start) holds |= width.beginText | width.beginLine;
  if (after === before.newline) holds |= width.beginLine;
  if (rune === endOfText) holds |= width.endText | width.endLine;
  if (rune === 10) holds |= width.endLine;
  return holds;
}
