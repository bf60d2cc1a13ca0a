import { createHash } from "node:crypto";
import { VenturiError } from "../../core/errors/errors.ts";
import type { ActiveGuard, ScanSink, TextScanner } from "../../core/ports/guard.ts";
import type { HookContext, TextFilter } from "../../core/ports/hooks.ts";
import type { Question } from "../../core/ports/tool.ts";
import type { GuardAction, GuardDirection } from "../../core/run/guard-verdict.ts";
import { type Findings, maskOf, toldFindings } from "./screen.ts";

interface Filtering {
  readonly guard: ActiveGuard;
  readonly direction: GuardDirection;
  readonly action: GuardAction;
  readonly context: HookContext;
}

/** Applies the guard's action to a streaming text. */
export class GuardFilter implements TextFilter, ScanSink {
  readonly #filtering: Filtering;
  #scanner: TextScanner | undefined;
  /** Text that passed and was not returned yet. */
  #passed = "";
  /** The text from the first finding on, held back until a person has decided. */
  #held: string | undefined;
  #fresh: Map<string, number> | undefined;
  #asked: Map<string, number> | undefined;
  /** Undecided text passed by the last flush. A finding that starts in it must not be completed by later text. */
  #tail = "";
  /** How many characters of it the scanner has yet to see again. */
  #told = 0;
  #flushing = false;

  constructor(filtering: Filtering) {
    this.#filtering = filtering;
  }

  push(text: string): string {
    this.#scanner ??= this.#filtering.guard.guard.scanner?.(this);
    if (this.#scanner === undefined) return text;
    this.#told += this.#tail.length;
    const seen = this.#tail + text;
    this.#tail = "";
    this.#scanner.push(seen);
    return this.#take();
  }

  flush(): string {
    this.#flushing = true;
    this.#scanner?.end();
    this.#flushing = false;
    this.#scanner = undefined;
    return this.#take();
  }

  end(): string | Promise<string> {
    const rest = this.flush();
    return this.#held === undefined ? rest : this.#ask(rest, this.#held);
  }

  plain(all: string): void {
    if (this.#flushing) this.#tail += all;
    this.#pass(this.#untold(all));
  }

  found(all: string, rule: string, continues: boolean): void {
    const { action } = this.#filtering;
    this.#tail = "";
    const text = this.#untold(all);
    if (!continues) {
      this.#fresh ??= new Map();
      this.#fresh.set(rule, (this.#fresh.get(rule) ?? 0) + 1);
    }
    if (action === "log") this.#pass(text);
    else if (action === "ask") this.#held = (this.#held ?? "") + text;
    else if (action === "redact" && !continues) this.#pass(maskOf(rule));
  }

  #pass(text: string): void {
    if (this.#held !== undefined) this.#held += text;
    else this.#passed = this.#passed === "" ? text : this.#passed + text;
  }

  #untold(text: string): string {
    if (this.#told === 0) return text;
    const told = Math.min(this.#told, text.length);
    this.#told -= told;
    return text.slice(told);
  }

  #take(): string {
    const { guard, direction, action, context } = this.#filtering;
    const fresh = this.#fresh;
    if (fresh !== undefined) {
      this.#fresh = undefined;
      if (action === "ask") this.#asked = merged(this.#asked, fresh);
      else tellFindings(context, { guard, direction, action }, fresh);
      if (action === "block") throw blocked(guard.name, direction, fresh);
    }
    const passed = this.#passed;
    this.#passed = "";
    return passed;
  }

  async #ask(rest: string, held: string): Promise<string> {
    this.#held = undefined;
    const { guard, direction, context } = this.#filtering;
    await askAbout(context, { guard, direction }, { text: held, found: this.#asked ?? new Map() });
    return rest + held;
  }
}

function merged(before: Map<string, number> | undefined, more: Findings): Map<string, number> {
  const sum = new Map(before);
  for (const [rule, count] of more) sum.set(rule, (sum.get(rule) ?? 0) + count);
  return sum;
}

interface About {
  readonly guard: ActiveGuard;
  readonly direction: GuardDirection;
  readonly call?: string;
}

/** Writes one event per rule. */
export function tellFindings(
  context: HookContext,
  { guard, direction, action, call }: About & { readonly action: GuardAction },
  found: Findings,
): void {
  for (const [rule, count] of found) {
    const whose = call === undefined ? {} : { call };
    context.decided({ guard: guard.name, direction, action, rule, count, ...whose });
  }
}

/** Asks a person whether a text may pass; throws when it may not. Asks about the same text once per run. */
export async function askAbout(
  context: HookContext,
  { guard, direction, call }: About,
  { text, found, reason }: { readonly text: string; readonly found: Findings; readonly reason?: string },
): Promise<void> {
  tellFindings(context, { guard, direction, action: "ask", ...(call === undefined ? {} : { call }) }, found);
  const { approved, reason: said } = await context.ask(questionAbout({ guard, direction }, { text, found, reason }));
  if (approved) return;
  const message = `a person refused ${nameOf(direction)} that the guard ${guard.name} held back`;
  throw new VenturiError("guard.ask", "content_blocked", said === undefined ? message : `${message}: ${said}`, {
    details: { guard: guard.name, direction },
  });
}

/** Length of the excerpt shown to the person who decides. */
const shownText = 2_000;

function questionAbout(
  { guard, direction }: About,
  { text, found, reason }: { readonly text: string; readonly found: Findings; readonly reason?: string | undefined },
): Question {
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return {
    id: `guard.${guard.name}.${direction}.${hash}`,
    kind: "approve",
    name: guard.name,
    arguments: { direction, text: text.slice(0, shownText) },
    reason: reason ?? `the guard ${guard.name} found ${toldFindings(found)} in ${nameOf(direction)}`,
  };
}

export const blocked = (guard: string, direction: GuardDirection, found: Findings | string): VenturiError =>
  new VenturiError(
    "guard.check",
    "content_blocked",
    `the guard ${guard} refused ${nameOf(direction)}: ${typeof found === "string" ? found : toldFindings(found)}`,
    { details: { guard, direction } },
  );

const names: Readonly<Record<GuardDirection, string>> = {
  input: "the input",
  arguments: "the arguments of a call",
  results: "the result of a call",
  output: "the answer",
};
export const nameOf = (direction: GuardDirection): string => names[direction];
