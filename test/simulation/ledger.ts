import type { Verdict } from "../../src/core/ports/tool.ts";
import type { EventOf, RunEvent } from "../../src/core/run/events.ts";
import type { Engine } from "./engine.ts";
import { forbidden } from "./guard.ts";
import { skillName } from "./skill.ts";

interface Act {
  readonly tool: string;
  readonly run: string;
  readonly call: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** What tools truly did. It checks each act against what the store has at that moment. */
export class Ledger {
  readonly #engine: Engine;
  /** Arguments that a model sent or a person wrote, as their canonical text by tool. */
  readonly #sent = new Set<string>(["now {}"]);
  readonly #acts = new Map<string, number>();
  /** The run in which arguments took effect: a fork must not repeat it. */
  readonly #actedIn = new Map<string, string>();
  #numbers = 0;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Arguments that no other call has. */
  newArguments(tool: string, note?: string): string {
    const text = JSON.stringify(this.#argumentsOf(tool, ++this.#numbers, note));
    this.#sent.add(`${tool} ${text}`);
    return text;
  }

  #argumentsOf(tool: string, n: number, note: string | undefined): object {
    if (tool === "remember") return { patch: [{ op: "add", path: `/n${n}`, value: n }], why: "it matters" };
    if (tool === "memorize") return { text: `note ${n}` };
    if (tool === "recall") return { query: `note ${decimal(n)}` };
    if (tool === "read_skill") return { name: skillName };
    return { n, ...(note === undefined ? {} : { note }) };
  }

  acted({ tool, run, call, input }: Act): void {
    const { world } = this.#engine;
    const say = (what: string) => world.violated(`${run}: ${tool} (${call}) ${what}`);
    world.note(`effect: ${tool} of ${run} ${call} ${JSON.stringify(input)}`);
    if (!this.#sent.has(`${tool} ${JSON.stringify(input)}`))
      say(`acted on ${JSON.stringify(input)}, which nobody sent`);
    const events = this.#engine.events.get(run) ?? [];
    const starts = events.filter((event) => event.type === "tool.started" && event.call === call).length;
    if (starts === 0) say("acted before its start was stored");
    const key = `${run} ${call}`;
    const acts = (this.#acts.get(key) ?? 0) + 1;
    this.#acts.set(key, acts);
    if (acts > starts) say(`acted ${acts} times and was started ${starts} times`);
    this.#checkGuarded(events, { tool, run, call, input });
    this.#checkEdited(events, { tool, run, call, input });
    if (tool !== "pay" && tool !== "refund") return;
    const round = events.findLastIndex((event) => event.type === "round.started");
    if (!events.slice(round).some(({ type }) => type === "generation.finished"))
      say("acted before its generation had ended");
    const text = `${tool} ${JSON.stringify(input)}`;
    const first = this.#actedIn.get(text) ?? run;
    this.#actedIn.set(text, first);
    // The original may have been cancelled after the effect and before its result: then a person is told and decides.
    const warned = events.some(
      (event) => event.type === "approval.requested" && event.call === call && isWarning(event),
    );
    if (first !== run && !warned) say(`acted again on what ${first} had done`);
    const approved = events.filter((event) => isApproval(event) && event.call === call && event.approved).length;
    // The first start of a refund and every repetition need an approval of their own.
    const needed = starts - 1 + (tool === "refund" ? 1 : 0);
    if (approved < needed) say(`was started ${starts} times with ${approved} approvals`);
  }

  readonly #answers = new Set<string>();

  /** An answer that no other question gets. */
  newAnswer(): string {
    const text = `${++this.#numbers} of them`;
    this.#answers.add(text);
    return text;
  }

  /** A tool is told what a person said to its question, and what is stored. */
  told({ run, call }: Pick<Act, "run" | "call">, { approved, answer }: Verdict): void {
    const say = (what: string) => this.#engine.world.violated(`${run}: consult (${call}) ${what}`);
    const events = this.#engine.events.get(run) ?? [];
    const said = events.find((event) => event.type === "question.answered" && event.call === `${call}.many`);
    // A call that is over, because its generation failed or its run ended, is left with a refusal that nobody stores.
    if (said === undefined && !approved) return;
    if (said?.type !== "question.answered") return say("is told an answer that is not stored");
    if (said.answered !== approved || said.answer !== answer) say(`is told ${answer}, and ${said.answer} is stored`);
    if (approved && !this.#answers.has(String(answer))) say(`is told ${answer}, which nobody said`);
    this.#engine.coverage.count(approved ? "question answered" : "question declined");
  }

  /** Arguments that a guard stops are not acted on, those it asks about only when somebody has agreed. */
  #checkGuarded(events: readonly RunEvent[], { tool, run, call, input }: Act): void {
    const { guarded } = this.#engine.profile;
    if (input.note !== forbidden || guarded === "none") return;
    const approved = events.some((event) => isApproval(event) && event.call === call && event.approved);
    if (guarded === "block" || !approved)
      this.#engine.world.violated(`${run}: ${tool} (${call}) acted on what a guard stops`);
  }

  #checkEdited(events: readonly RunEvent[], { tool, run, call, input }: Act): void {
    const last = events.findLast((event) => isApproval(event) && event.call === call);
    const changed = last?.type === "approval.resolved" ? last.arguments : undefined;
    if (changed !== undefined && JSON.stringify(changed) !== JSON.stringify(input))
      this.#engine.world.violated(`${run}: ${tool} (${call}) acted on what a person had changed`);
  }
}

/** Of one that is older, as often as not. */
const decimal = (n: number): number => Math.ceil(n / 2);

const isWarning = ({ reason }: EventOf<"approval.requested">): boolean => reason?.includes("may have run") === true;

const isApproval = (event: { readonly type: string }): event is EventOf<"approval.resolved"> =>
  event.type === "approval.resolved";
