import type { Approval, Tool } from "../../core/tool.ts";
import type { RunContext } from "../run-context.ts";
import type { CallState } from "../state/round-state.ts";
import { compileCondition } from "./condition.ts";

/** A person's word on a call, as a signal brought it. */
export interface Verdict {
  readonly approved: boolean;
  readonly reason?: string;
  readonly by?: string;
  readonly signal: number;
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

  /** Whether the call may run; asks first where it must. `reason` is shown to the person. */
  async ask(call: CallState, round: number, reason?: string): Promise<boolean> {
    if (call.approval === undefined) {
      // What was said before the call's first start was not said of this question.
      if (call.attempts > 0) this.#early.delete(call.call);
      await this.#run.step({
        type: "approval.requested",
        round,
        call: call.call,
        name: call.name,
        arguments: { ...call.arguments },
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

const conditions = new Map<string, ReturnType<typeof compileCondition>>();

/** Whether this call needs a person's word. */
export function needsApproval(run: RunContext, tool: Tool, call: CallState): boolean {
  const approval: Approval = tool.approval ?? "never";
  if (approval === "always") return true;
  if (approval === "never") return false;
  if (approval === "once") return !run.state.allowed.has(tool.name);
  let condition = conditions.get(approval.when);
  if (condition === undefined) {
    condition = compileCondition(approval.when);
    conditions.set(approval.when, condition);
  }
  return condition(tool.adapt?.({ ...call.arguments }) ?? call.arguments);
}
