import type { Tool } from "../../core/ports/tool.ts";
import { orAborted } from "../run/or-aborted.ts";
import type { RunContext } from "../run/run-context.ts";
import type { CallState } from "../state/round-state.ts";
import { needsApproval } from "./approvals.ts";
import { callContext } from "./call-context.ts";
import type { CallEntry } from "./call-entry.ts";
import type { Checked, ToolTable } from "./tool-table.ts";

interface RuleDeps {
  readonly run: RunContext;
  readonly round: number;
  readonly tools: ToolTable;
}

/** Decides when a call may start and whether a person is asked first. */
export class CallRules {
  readonly #deps: RuleDeps;

  constructor(deps: RuleDeps) {
    this.#deps = deps;
  }

  /** Whether it may start while the model still streams. */
  mayStartEarly({ tool, call }: CallEntry): boolean {
    const { run } = this.#deps;
    if (run.agent.toolPolicy.dispatch === "round" || run.signal.aborted) return false;
    if (tool.effect !== "pure" && tool.effect !== "idempotent") return false;
    if (typeof tool.approval === "function" || this.hookReason(call) !== undefined) return false;
    return !this.#needsApproval(tool, call);
  }

  /** Whether the tool's function has yet to decide. A question already in the journal was its decision. */
  isUndecided({ tool, call, decision, approved }: CallEntry): boolean {
    if (this.#deps.run.state.allowedForRun.has(tool.name)) return false;
    return typeof tool.approval === "function" && decision === undefined && !approved && call.approval === undefined;
  }

  /** Calls the tool's approval function. Invalid arguments are rejected later, when the call starts. */
  async askTool(entry: CallEntry): Promise<boolean | string | undefined> {
    const { call, tool, controller } = entry;
    const { run, round } = this.#deps;
    const checked = this.check(call);
    if (!checked.ok || typeof tool.approval !== "function") return false;
    const context = callContext(run, { call, controller, round, attempt: call.attempts + 1 });
    return await orAborted(Promise.resolve(tool.approval(checked.input, context)), controller.signal);
  }

  mustAsk({ tool, call, decision }: CallEntry): boolean {
    if (this.isUncertain(tool, call) || this.hookReason(call) !== undefined) return true;
    if (this.#deps.run.state.allowedForRun.has(tool.name)) return false;
    if (decision?.ask === true) return true;
    if (typeof tool.approval === "function") return decision === undefined && call.approval !== undefined;
    return this.#needsApproval(tool, call);
  }

  /** An effectful tool that was started before a crash may or may not have taken effect. */
  isUncertain(tool: Tool, call: CallState): boolean {
    return call.attempts > 0 && tool.effect !== "pure" && tool.effect !== "idempotent" && tool.resumable !== true;
  }

  reasonToAsk({ tool, call, decision }: CallEntry): string | undefined {
    return this.isUncertain(tool, call) ? "it may have run already" : (decision?.reason ?? this.hookReason(call));
  }

  /** Why a hook requires approval, if one does. */
  hookReason(call: CallState): string | undefined {
    const { run, round } = this.#deps;
    if (run.hooks.empty) return undefined;
    return run.hooks.approval({ call: call.call, name: call.name, arguments: call.changed ?? call.arguments }, round);
  }

  check({ name, arguments: input, changed }: CallState): Checked {
    return this.#deps.tools.check(name, { ...(changed ?? input) });
  }

  /** The input shown to a person, as JSON like all event data, because a schema may have produced dates or sets. */
  shownInput(call: CallState): Readonly<Record<string, unknown>> {
    try {
      return JSON.parse(JSON.stringify(this.#inputOf(call))) as Record<string, unknown>; // The input is an object.
    } catch {
      return call.arguments;
    }
  }

  #needsApproval({ name, approval = "never" }: Tool, call: CallState): boolean {
    return (
      typeof approval !== "function" && needsApproval(this.#deps.run, { name, approval }, () => this.#inputOf(call))
    );
  }

  /** The tool's effective input. Invalid arguments are shown unchanged; they are rejected when the call starts. */
  #inputOf(call: CallState): Readonly<Record<string, unknown>> {
    const checked = this.check(call);
    return checked.ok ? checked.input : call.arguments;
  }
}
