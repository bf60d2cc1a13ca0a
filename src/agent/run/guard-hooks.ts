import { VenturiError } from "../../core/errors/errors.ts";
import type { Message } from "../../core/model/messages.ts";
import type { ActiveGuard } from "../../core/ports/guard.ts";
import { type HookContext, type Hooks, nameHooks, type ToolHookCall } from "../../core/ports/hooks.ts";
import { askAbout, blocked, GuardFilter, tellFindings } from "./guard-filter.ts";
import { freshInput, judgeHooks } from "./judge-hooks.ts";
import { screenText, screenValue, toldFindings } from "./screen.ts";

/** The hooks through which guards inspect runs; only for the directions that are guarded. */
export const guardHooks = (guards: readonly ActiveGuard[]): readonly Hooks[] =>
  guards.flatMap((guard) => {
    const name = `the guard ${guard.name}`;
    return [
      ...(guard.guard.scanner === undefined ? [] : [nameHooks(ruleHooks(guard), name)]),
      ...(guard.guard.judge === undefined ? [] : [nameHooks(judgeHooks(guard), name)]),
    ];
  });

function ruleHooks(active: ActiveGuard): Hooks {
  const { guard, actions } = active;
  const { input, arguments: ofArguments, results, output } = actions;
  const ofResult = { guard: active, direction: "results" as const };
  return {
    // Blocking and masking happened before the input was stored; see `screenInput`.
    ...(input === "ask" ? { beforeGeneration: (request, context) => askInput(active, request.messages, context) } : {}),
    ...(output === undefined && results === undefined
      ? {}
      : {
          filter: (of, context) => {
            const action = of === "results" ? results : output;
            if (action === undefined) return undefined;
            const direction = of === "results" ? "results" : "output";
            // A tool's progress streams, so nobody can be asked about it: findings are masked instead.
            const taken = of === "results" && action !== "log" ? "redact" : action;
            return new GuardFilter({ guard: active, direction, action: taken, context });
          },
        }),
    ...(ofArguments === undefined ? {} : { sealed: (call, context) => sealed(active, call, context) }),
    ...(ofArguments === "ask"
      ? {
          approval: (call) => {
            const { found } = screenValue(guard, call.arguments);
            return found.size === 0 ? undefined : `the guard ${active.name} found ${toldFindings(found)}`;
          },
        }
      : {}),
    ...(results === undefined
      ? {}
      : {
          async afterTool(call, result, context) {
            const { value, found } = screenText(guard, result.output);
            if (found.size === 0) return undefined;
            const about = { ...ofResult, call: call.call };
            if (results === "ask") {
              await askAbout(context, about, { text: result.output, found });
              return undefined;
            }
            tellFindings(context, { ...about, action: results }, found);
            if (results === "block") throw blocked(active.name, "results", found);
            return results === "redact" ? { ok: result.ok, output: value } : undefined;
          },
        }),
  };
}

function sealed(active: ActiveGuard, call: ToolHookCall, context: HookContext): ToolHookCall | undefined {
  const { value, found } = screenValue(active.guard, call.arguments);
  const action = active.actions.arguments;
  if (found.size === 0 || action === undefined) return undefined;
  const about = { guard: active, direction: "arguments" as const, call: call.call };
  tellFindings(context, { ...about, action }, found);
  if (action === "block") {
    const { op, code, message } = blocked(active.name, "arguments", found);
    throw new VenturiError(op, code, message, { details: { arguments: value } });
  }
  return action === "redact" ? { ...call, arguments: value } : undefined;
}

/** Asks only about messages since the model last spoke; earlier ones were already asked about. */
async function askInput(active: ActiveGuard, messages: readonly Message[], context: HookContext): Promise<undefined> {
  for (const text of freshInput(messages)) {
    const { found } = screenText(active.guard, text);
    if (found.size > 0) await askAbout(context, { guard: active, direction: "input" }, { text, found });
  }
}
