import type { Approval, Tool } from "../../core/tool.ts";
import type { RunContext } from "../run-context.ts";
import type { CallState } from "../state/round-state.ts";
import { type Condition, compileCondition } from "./condition.ts";

/** A person's word on a call, as a signal brought it. */
export interface Verdict {
  readonly approved: boolean;
  readonly reason?: string;
  readonly by?: string;
  readonly signal: number;
}

export interface Question {
  /** The arguments with the tool's defaults in place. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly reason?: string;
}

/** Asks people about calls and waits for their word, which may come before the question, after a restart, or never. */
export class Approvals {
  readonly #run: RunContext;
  /** Verdicts that came before their call asked. */
  readonly #early = new Map<string, Verdict>();
  readonly #waiting = new Map<string, (verdict: Verdict) => void>();

  constructor(run: RunContext) {
    this.#run = run;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** When the first of the open questions is over, by the clock. */
  get deadline(): number | undefined {
    const { approvalTimeout } = this.#run.agent.toolPolicy;
    const asked = (this.#run.state.round?.inOrder ?? [])
      .filter((call) => call.approval === "requested")
      .map((call) => (call.approvalAt ?? this.#run.parts.clock.now()) + approvalTimeout);
    return asked.length === 0 ? undefined : Math.min(...asked);
  }

  resolve(call: string, verdict: Verdict): void {
    const waiter = this.#waiting.get(call);
    if (waiter) waiter(verdict);
    else this.#early.set(call, verdict);
  }

  /** Whether the call may run; asks first where it must. The person is shown what the tool would get, and the reason. */
  async ask(call: CallState, round: number, shown: Question): Promise<boolean> {
    const { input, reason } = shown;
    if (call.approval === undefined) {
      // What was said before the call's first start was not said of this question.
      if (call.attempts > 0) this.#early.delete(call.call);
      await this.#run.step({
        type: "approval.requested",
        round,
        call: call.call,
        name: call.name,
        arguments: { ...input },
        ...(reason === undefined ? {} : { reason }),
      });
    }
    if (call.approval !== "requested") return call.approval === "approved";
    const verdict = await this.#verdict(call);
    await this.#run.step({
      type: "approval.resolved",
      round,
      call: call.call,
      approved: verdict?.approved ?? false,
      ...(verdict?.reason === undefined ? {} : { reason: verdict.reason }),
      ...(verdict?.by === undefined ? {} : { by: verdict.by }),
      ...(verdict === undefined ? { reason: "nobody answered in time" } : { signal: verdict.signal }),
    });
    return verdict?.approved ?? false;
  }

  #verdict(call: CallState): Promise<Verdict | undefined> {
    const early = this.#early.get(call.call);
    if (early) return Promise.resolve(early);
    const { clock } = this.#run.parts;
    // Asked in the future: by a clock that has been set back since. It must not lengthen the wait.
    const waited = Math.max(0, clock.now() - (call.approvalAt ?? clock.now()));
    const left = this.#run.agent.toolPolicy.approvalTimeout - waited;
    return new Promise((resolve, reject) => {
      const settle = () => {
        stop();
        this.#waiting.delete(call.call);
        this.#run.signal.removeEventListener("abort", onAbort);
      };
      const onAbort = () => {
        settle();
        reject(this.#run.signal.reason);
      };
      const stop = clock.after(Math.max(0, left), () => {
        settle();
        resolve(undefined);
      });
      this.#waiting.set(call.call, (verdict) => {
        settle();
        resolve(verdict);
      });
      if (this.#run.signal.aborted) onAbort();
      this.#run.signal.addEventListener("abort", onAbort, { once: true });
    });
  }
}

const conditions = new Map<string, Condition>();

/** Whether a call needs a person's word. `input` is what the tool would get; it is asked for only where it matters. */
export function needsApproval(run: RunContext, tool: Tool, input: () => Readonly<Record<string, unknown>>): boolean {
  const approval: Approval = tool.approval ?? "never";
  if (approval === "always") return true;
  if (approval === "never") return false;
  if (approval === "once") return !run.state.allowed.has(tool.name);
  return conditionOf(approval.when)(input());
}

/** The config compiles its conditions when it is read; one of a tool in code that cannot be compiled always asks. */
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
