import type { Approval, ApprovalQuestion, InputQuestion, Shown, Verdict } from "../../core/ports/tool.ts";
import { emptyMap, withEntry, withoutEntry } from "../../core/values/no-entries.ts";
import type { RunContext } from "../run/run-context.ts";
import type { CallState } from "../state/round-state.ts";
import { mustBeAnswerable } from "./answers.ts";
import { type Condition, compileCondition } from "./condition.ts";

/** An approval decision received as a signal. */
export interface SignalledVerdict extends Verdict {
  readonly signal: number;
}

export interface CallQuestion {
  /** The arguments with the tool's defaults applied. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly reason?: string;
  readonly show?: readonly Shown[];
}

/** A question as named in the run's events. */
export type Asked = (Omit<ApprovalQuestion, "id"> | Omit<InputQuestion, "id">) & { readonly call: string };

interface Wait {
  /** ms until it times out. */
  readonly left: number;
  /** Set for a question that is not about approval. */
  readonly input?: Omit<InputQuestion, "id">;
  readonly settled?: Promise<Verdict> | undefined;
}

/** Asks people for decisions and waits for them. A decision may arrive before its question, after a restart, or never. */
export class Approvals {
  readonly #run: RunContext;
  /** Decisions received but not in the journal yet: the call is about to ask, or its question is not durable yet. */
  #held = emptyMap<string, SignalledVerdict>();
  #answering = 0;
  #waiting = emptyMap<string, (verdict: Verdict) => void>();

  constructor(run: RunContext) {
    this.#run = run;
  }

  /** An open question has an answer that is not stored yet. Its signal already counts as seen, so nobody would deliver it again. */
  get answering(): boolean {
    if (this.#answering > 0) return true;
    for (const call of this.#held.keys()) if (this.#isOpen(call)) return true;
    return false;
  }

  #isOpen(call: string): boolean {
    const { round, questions } = this.#run.state;
    const question = questions.get(call);
    if (question !== undefined) return question.verdict === undefined;
    return round?.calls.get(call)?.approval === "requested";
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** When the first open question times out. */
  get deadline(): number | undefined {
    const { approvalTimeout } = this.#run.agent.toolPolicy;
    const asked = (this.#run.state.round?.inOrder ?? [])
      .filter((call) => call.approval === "requested")
      .map((call) => (call.approvalAt ?? this.#run.deps.clock.now()) + approvalTimeout);
    for (const { since, until, verdict } of this.#run.state.questions.values()) {
      if (verdict === undefined) asked.push(until ?? since + approvalTimeout);
    }
    return asked.length === 0 ? undefined : Math.min(...asked);
  }

  resolve(call: string, verdict: SignalledVerdict): void {
    if (!this.#held.has(call)) this.#held = withEntry(this.#held, call, verdict); // The first answer wins.
    this.#waiting.get(call)?.(verdict);
  }

  /** Whether the call may run; requests approval where required. The person sees the tool's effective input and the reason. */
  async ask(call: CallState, round: number, shown: CallQuestion): Promise<boolean> {
    const { input, reason, show } = shown;
    if (call.approval === undefined) {
      // Discard a decision made before the call's first start: it was not about this question.
      if (call.attempts > 0) withoutEntry(this.#held, call.call);
      await this.#request(
        {
          call: call.call,
          name: call.name,
          arguments: input,
          ...(reason === undefined ? {} : { reason }),
          ...(show === undefined ? {} : { show }),
        },
        round,
      );
    }
    if (call.approval !== "requested") return call.approval === "approved";
    const { approved } = await this.#answer(call.call, round, { left: this.#leftOf(call.approvalAt) });
    return approved;
  }

  /** A question of a running tool. One answered before a restart is not asked again. */
  async question(asked: Asked, round: number): Promise<Verdict> {
    const { state } = this.#run;
    if (!state.questions.has(asked.call)) await this.#request(asked, round);
    const known = state.questions.get(asked.call);
    if (known?.verdict) return known.verdict;
    const left = asked.until === undefined ? this.#leftOf(known?.since) : asked.until - this.#run.deps.clock.now();
    return this.#answer(asked.call, round, {
      left,
      settled: asked.settled,
      ...(isInput(asked) ? { input: asked } : {}),
    });
  }

  async #request(asked: Asked, round: number): Promise<void> {
    const { call, name, origin } = asked;
    if (isInput(asked)) mustBeAnswerable(asked);
    const until = asked.until ?? this.#run.deps.clock.now() + this.#run.agent.toolPolicy.approvalTimeout;
    const common = { round, call, name, until, ...(origin === undefined ? {} : { origin: { ...origin } }) };
    if (isInput(asked)) {
      const { kind, message, schema, choices, url, fallback } = asked;
      await this.#run.step({
        type: "question.asked",
        ...common,
        kind,
        message,
        ...(schema === undefined ? {} : { schema: { ...schema } }),
        ...(choices === undefined ? {} : { choices: [...choices] }),
        ...(url === undefined ? {} : { url }),
        ...(fallback === undefined ? {} : { fallback }),
      });
      return;
    }
    const { reason, arguments: input, show } = asked;
    await this.#run.step({
      type: "approval.requested",
      ...common,
      arguments: { ...input },
      ...(reason === undefined ? {} : { reason }),
      ...(show === undefined ? {} : { show: show.map((each) => ({ ...each })) }),
    });
  }

  async #answer(call: string, round: number, wait: Wait): Promise<Verdict> {
    const verdict = await this.#verdict(call, wait);
    const { approved, reason, by, arguments: changed, for: scope, answer } = verdict;
    const said = { ...(reason === undefined ? {} : { reason }), ...(by === undefined ? {} : { by }) };
    const given = answer === undefined ? {} : { answer };
    const terms = {
      ...(changed === undefined ? {} : { arguments: { ...changed } }),
      ...(scope === undefined ? {} : { for: scope }),
    };
    const common = { round, call, ...said, ...("signal" in verdict ? { signal: verdict.signal } : {}) };
    this.#answering += 1;
    try {
      await this.#run.step(
        wait.input === undefined
          ? { type: "approval.resolved", ...common, approved, ...terms }
          : { type: "question.answered", ...common, answered: approved, ...given },
      );
      withoutEntry(this.#held, call);
    } finally {
      this.#answering -= 1;
    }
    if (approved && scope === "run") this.#allowOthers(call, by);
    return { approved, ...said, ...(wait.input === undefined ? terms : given) };
  }

  /** Also approves waiting calls of the same tool. */
  #allowOthers(answered: string, by: string | undefined): void {
    const calls = this.#run.state.round?.calls;
    const name = calls?.get(answered)?.name;
    for (const [call, settle] of [...this.#waiting]) {
      if (name === undefined || calls?.get(call)?.name !== name) continue;
      settle({ approved: true, reason: "allowed for this run", ...(by === undefined ? {} : { by }) });
    }
  }

  /** A start in the future means the clock was set back since. That must not extend the wait. */
  #leftOf(since: number | undefined): number {
    const now = this.#run.deps.clock.now();
    return this.#run.agent.toolPolicy.approvalTimeout - Math.max(0, now - (since ?? now));
  }

  #verdict(call: string, { left, settled, input }: Wait): Promise<Verdict | SignalledVerdict> {
    const held = this.#held.get(call);
    // The call may have ended while its question was being stored: then nothing stores an answer any more.
    if (held) return settled === undefined ? Promise.resolve(held) : Promise.race([settled, held]);
    const { signal } = this.#run;
    return new Promise((resolve, reject) => {
      const settle = (verdict: Verdict) => {
        stop();
        withoutEntry(this.#waiting, call);
        signal.removeEventListener("abort", onAbort);
        resolve(verdict);
      };
      const onAbort = () => {
        reject(signal.reason); // First: a promise ignores later settlements.
        settle(timedOut);
      };
      const late = input?.fallback === undefined ? timedOut : { ...timedOut, approved: true, answer: input.fallback };
      const stop = this.#run.deps.clock.after(Math.max(0, left), () => settle(late));
      this.#waiting = withEntry(this.#waiting, call, settle);
      settled?.then(settle, onAbort);
      if (signal.aborted) onAbort();
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }
}

const isInput = <Q extends Asked>(asked: Q): asked is Q & Omit<InputQuestion, "id"> =>
  asked.kind !== undefined && asked.kind !== "approve";

const timedOut: Verdict = { approved: false, reason: "nobody answered in time" };

const conditions = new Map<string, Condition>();

/** Whether a call needs approval by its tool's setting. `input` is evaluated only if the decision depends on it. */
export function needsApproval(
  run: RunContext,
  { name, approval }: { readonly name: string; readonly approval: Approval },
  input: () => Readonly<Record<string, unknown>>,
): boolean {
  if (run.state.allowedForRun.has(name)) return false;
  if (approval === "always") return true;
  if (approval === "never") return false;
  if (approval === "once") return !run.state.approvedOnce.has(name);
  return approval.when === undefined || conditionOf(approval.when)(input());
}

/** Conditions in the config are compiled at load; a tool defined in code whose condition does not compile always asks. */
function conditionOf(source: string): Condition {
  let condition = conditions.get(source);
  if (condition === undefined) {
    try {
      condition = compileCondition(source);
    } catch {
      condition = () => true;
    }
    conditions.set(source, condition);
  }
  return condition;
}
