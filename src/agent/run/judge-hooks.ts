import { messageOf, wrap } from "../../core/errors/errors.ts";
import { type Message, textOf } from "../../core/model/messages.ts";
import type { ActiveGuard, Judgement } from "../../core/ports/guard.ts";
import type { HookContext, Hooks, TextFilter } from "../../core/ports/hooks.ts";
import type { GuardDirection } from "../../core/run/guard-verdict.ts";
import { askAbout, blocked } from "./guard-filter.ts";

/** An answer is judged again after this many characters. */
const every = 2_000;

/**
 * Judges texts in parallel with the run: the input while the model answers, the answer while it is written. The run waits for the judge
 * before a tool call and before the generation finishes; a refusal ends the run at once.
 */
export function judgeHooks(active: ActiveGuard): Hooks {
  const { input, arguments: ofArguments, results, output } = active.actions;
  const open = new WeakMap<AbortSignal, Promise<void>[]>();
  const aside = ({ signal, stop }: HookContext, judging: Promise<void>) => {
    judging.catch((thrown: unknown) => stop(wrap("guard.judge", thrown, "plugin_failed")));
    open.set(signal, [...(open.get(signal) ?? []), judging]);
  };
  const judged = async ({ signal }: HookContext) => {
    for (const judging of open.get(signal)?.splice(0) ?? []) await judging;
  };
  return {
    ...(input === undefined
      ? {}
      : {
          beforeGeneration(request, context) {
            for (const text of freshInput(request.messages))
              aside(context, judge(active, { direction: "input", text }, context));
            return undefined;
          },
        }),
    ...(input === undefined && output === undefined
      ? {}
      : {
          filter: (of, context) =>
            of === "output"
              ? new JudgedText({
                  judge: output && ((text) => aside(context, judge(active, { direction: "output", text }, context))),
                  judged: () => judged(context),
                })
              : undefined,
        }),
    async beforeTool(call, context) {
      await judged(context);
      if (ofArguments === undefined) return undefined;
      const text = JSON.stringify(call.arguments);
      await judge(active, { direction: "arguments", text, call: call.call }, context);
      return undefined;
    },
    ...(results === undefined
      ? {}
      : {
          async afterTool({ call }, { output: text }, context) {
            if (text !== "") await judge(active, { direction: "results", text, call }, context);
            return undefined;
          },
        }),
  };
}

/** The user's texts since the model last spoke. */
export function freshInput(messages: readonly Message[]): readonly string[] {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  return messages
    .slice(last + 1)
    .filter(({ role }) => role === "user")
    .map(textOf)
    .filter((text) => text !== "");
}

interface Judged {
  readonly direction: GuardDirection;
  readonly text: string;
  readonly call?: string;
}

async function judge(active: ActiveGuard, { direction, text, call }: Judged, context: HookContext): Promise<void> {
  const { name: guard, guard: port, actions } = active;
  const asked = actions[direction];
  if (asked === undefined || port.judge === undefined) return;
  // A judge does not locate the offending words, so there is nothing to mask.
  const action = asked === "redact" ? "block" : asked;
  const { run, depth, signal } = context;
  const whose = call === undefined ? {} : { call };
  let judgement: Judgement;
  try {
    judgement = await port.judge(text, { run, depth, direction, signal });
  } catch (thrown) {
    // If the judge fails, only text whose findings would merely be logged may pass.
    if (action !== "log" || signal.aborted) throw thrown;
    judgement = { ok: false, reason: `the judge failed: ${messageOf(thrown)}` };
  }
  const said = judgement.reason === undefined ? {} : { reason: judgement.reason };
  if (judgement.ok) return context.decided({ guard, direction, action: "pass", ...said, ...whose });
  context.decided({ guard, direction, action, ...said, ...whose });
  const reason = judgement.reason ?? "the judge refused it";
  if (action === "ask") await askAbout(context, { guard: active, direction }, { text, found: new Map(), reason });
  else if (action !== "log") throw blocked(guard, direction, reason);
}

interface Judging {
  readonly judge: ((text: string) => void) | undefined;
  readonly judged: () => Promise<void>;
}

/** Passes the text through unchanged and has it judged in the background. */
class JudgedText implements TextFilter {
  readonly #judging: Judging;
  readonly #pieces: string[] = [];
  #length = 0;
  #judged = 0;

  constructor(judging: Judging) {
    this.#judging = judging;
  }

  push(text: string): string {
    if (this.#judging.judge === undefined) return text;
    this.#pieces.push(text);
    this.#length += text.length;
    if (this.#length - this.#judged >= every) this.#judge();
    return text;
  }

  flush(): string {
    return "";
  }

  async end(): Promise<string> {
    if (this.#length > this.#judged) this.#judge();
    await this.#judging.judged();
    return "";
  }

  #judge(): void {
    this.#judged = this.#length;
    this.#judging.judge?.(this.#pieces.join(""));
  }
}
