import { isDeepStrictEqual } from "node:util";
import { emptyView, fold } from "../plugins/channel-console/web/fold/fold.ts";
import { RunState } from "../src/agent/state/run-state.ts";
import { addUsage } from "../src/core/model/usage.ts";
import { DigestFold } from "../src/core/run/digest.ts";
import { isStep, isTerminal, type RunEvent, type TerminalEvent } from "../src/core/run/events.ts";
import { questionsOpened } from "../src/core/run/questions.ts";
import type { RunFold } from "../src/core/run/run-fold.ts";
import { timingOf } from "../src/core/run/timing.ts";
import { initialState, nextState } from "../src/react/run-state.ts";
import { Story } from "../src/serve/why/story.ts";

/**
 * Where two of those who read a run's events disagree: the loop's own state, the fold (which is `why` as well), the run's page, a component of
 * React and the digest, after every step and at the end. Empty for every journal that this release has written.
 */
export function disagreements(events: readonly RunEvent[], story = new Story()): string[] {
  const first = events[0];
  if (first?.type !== "run.started") return ["it does not begin"];
  const { after = 0 } = first.fork ?? {};
  const found: string[] = [];
  const [state, view] = [new RunState(), emptyView(first.run)];
  // The fold that everybody reads, and what `why` adds to it.
  const facts: RunFold = story;
  const digest = new DigestFold(first.run, first);
  let component = initialState(first.run);
  let asking = 0;
  let now: RunEvent = first;
  const same = (fact: string, one: unknown, other: unknown) => {
    if (isEqual(one, other)) return;
    found.push(`${now.type} (${now.seq}), ${fact}: ${JSON.stringify(one)} ≠ ${JSON.stringify(other)}`);
  };
  /** Two by two, without an array for each fact of each step. */
  const alike = (fact: string, one: unknown, other: unknown, third: unknown) => {
    same(fact, one, other);
    same(fact, one, third);
  };
  for (const event of events) {
    now = event;
    state.apply(event);
    story.take(event);
    fold(view, event);
    component = nextState(component, event);
    asking += opened(event);
    if (!isStep(event)) continue;
    digest.add(event);
    const { status } = facts;
    same("status", status, view.status);
    same("status of a component", status === "cancelled" ? "failed" : status, component.status);
    same("end", status === "running" || status === "waiting", state.terminal === undefined);
    alike("text", state.output, component.text, textOf(view));
    alike("round", state.roundNumber, facts.rounds.at(-1)?.round ?? 0, view.rounds.at(-1)?.round ?? 0);
    same("model", state.model, facts.attempt?.model);
    const [one, other] = [facts.times.segments, view.times.segments];
    // The last one on the way, all at the end: comparing all after every step is quadratic.
    if (isTerminal(event)) same("time", one, other);
    else for (const at of lastTwo) same("time", one.at(at), other.at(at));
    if (facts.asking.size + view.asking.size > 0) same("questions", [...facts.asking.keys()], [...view.asking.keys()]);
    if (isTerminal(event)) atEnd(event);
    else {
      alike("open questions", asking, facts.asking.size, component.questions.length);
      same("asks a person", asking > 0, status === "waiting");
    }
  }
  return found;

  function atEnd(last: TerminalEvent): void {
    const row = digest.end(last).digest;
    const sealed = [...facts.calls.values()].flatMap((call) => (call.sealed === undefined ? [] : [call.sealed]));
    sealed.sort((one, other) => one.seq - other.seq);
    same("status of the digest", facts.status, row.status);
    alike("tokens", last.usage, row.usage, view.usage);
    same("tokens of the loop", last.usage, state.spending.own.total);
    alike("cost", last.cost, row.cost, state.spending.bill.cost);
    same("tokens of its attempts", generated(facts, after), generatedIn(row.usage, last));
    same("timing", last.timing, row.timing);
    same("timing of the fold", timingOf(facts.times), last.timing);
    alike("rounds", last.rounds, row.rounds, facts.rounds.at(-1)?.round ?? 0);
    same("calls", row.calls, sealed.length);
    same("tools", row.tools, [...new Set(sealed.map(({ name }) => name))].slice(0, 50));
    same("models", row.models, [...new Set(story.attempts.map(({ model }) => model))].slice(0, 50));
    const ms = Math.round(story.shares.total);
    same("took", Math.abs(ms - row.ms) <= 1, true);
    same("took on the page", Math.abs((view.endedAt ?? 0) - view.startedAt - row.ms) <= 1, true);
    alike("error", last.type === "run.failed" ? last.error.code : undefined, row.code, view.error?.code);
  }
}

const lastTwo = [-1, -2];

/** Most values are the same one, or flat and of the same few fields. */
function isEqual(one: unknown, other: unknown): boolean {
  return (
    one === other ||
    (isFlat(one) && isFlat(other) && hasAll(one, other) && hasAll(other, one)) ||
    isDeepStrictEqual(one, other)
  );
}

type Flat = Readonly<Record<string, unknown>>;

const isFlat = (value: unknown): value is Flat =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

function hasAll(one: Flat, other: Flat): boolean {
  for (const key in one) if (one[key] !== other[key] || !(key in other)) return false;
  return true;
}

const opened = (event: RunEvent): number => (event.type.endsWith("delta") ? 0 : questionsOpened([event]));

function textOf({ items }: ReturnType<typeof emptyView>): string {
  let text = "";
  for (const item of items) if (isSaid(item.kind) && "text" in item && isKept(item)) text += item.text;
  return text;
}
const isSaid = (kind: string): boolean => kind === "text" || kind === "refusal";
const isKept = (item: object): boolean => !("retracted" in item) || item.retracted === undefined;

/** What the attempts report, of those that are the run's own. */
const generated = ({ rounds }: RunFold, after: number) =>
  rounds
    .flatMap(({ attempts }) => attempts)
    .filter(({ outcome }) => outcome !== undefined && outcome.seq > after)
    .reduce((sum, { outcome }) => addUsage(addUsage(sum, outcome?.usage ?? {}), outcome?.hedged?.usage ?? {}), {});

/** A run's usage without that of tools and summaries, which no attempt has. */
const generatedIn = (usage: object, { spent }: TerminalEvent) =>
  spent === undefined
    ? usage
    : spent
        .filter(({ by }) => by === "generation" || by === "failed")
        .reduce((sum, share) => addUsage(sum, share.usage), {});
