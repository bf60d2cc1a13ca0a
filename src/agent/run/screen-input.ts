import type { Message } from "../../core/model/messages.ts";
import type { ActiveGuard } from "../../core/ports/guard.ts";
import type { RunInput } from "../../core/run/event-fields.ts";
import type { GuardVerdict } from "../../core/run/guard-verdict.ts";
import { screenValue } from "./screen.ts";

export interface ScreenedInput<Value> {
  readonly value: Value;
  readonly verdicts: readonly GuardVerdict[];
}

/**
 * Masks what guards find in user input before it is stored. Findings that are only logged or asked about stay. Blocked content is masked
 * too, so that a refused run keeps no copy of it.
 */
export function screenInput(guards: readonly ActiveGuard[] | undefined, input: RunInput): ScreenedInput<RunInput> {
  const { text, messages, variables } = input;
  const verdicts: GuardVerdict[] = [];
  const screen = <Value>(value: Value): Value => {
    const screened = screenSaid(guards, value);
    verdicts.push(...screened.verdicts);
    return screened.value;
  };
  const value = {
    ...input,
    ...(text === undefined ? {} : { text: screen(text) }),
    ...(messages === undefined ? {} : { messages: messages.map((message) => screenMessage(message, screen)) }),
    ...(variables === undefined ? {} : { variables: screen(variables) }),
  };
  return verdicts.length === 0 ? { value: input, verdicts } : { value, verdicts: summed(verdicts) };
}

/** The same for other values: a message sent into a run, or an answer. */
export function screenSaid<Value>(guards: readonly ActiveGuard[] | undefined, said: Value): ScreenedInput<Value> {
  const verdicts: GuardVerdict[] = [];
  let value = said;
  for (const { name, guard, actions } of guards ?? []) {
    const action = actions.input;
    if (action === undefined || action === "ask" || guard.scanner === undefined) continue;
    const screened = screenValue(guard, value);
    for (const [rule, count] of screened.found) verdicts.push({ guard: name, direction: "input", action, rule, count });
    if (action !== "log") value = screened.value;
  }
  return { value, verdicts };
}

/** Assistant messages were screened when they were produced and may be signed. */
function screenMessage(message: Message, screen: <Value>(value: Value) => Value): Message {
  if (message.role === "assistant") return message;
  const parts = message.parts.map((part) => {
    if (part.type === "text") return { ...part, text: screen(part.text) };
    return part.type === "tool_result" ? { ...part, output: screen(part.output) } : part;
  });
  return { ...message, parts };
}

function summed(verdicts: readonly GuardVerdict[]): GuardVerdict[] {
  const sums = new Map<string, GuardVerdict>();
  for (const verdict of verdicts) {
    const key = `${verdict.guard} ${verdict.rule}`;
    sums.set(key, { ...verdict, count: (sums.get(key)?.count ?? 0) + (verdict.count ?? 1) });
  }
  return [...sums.values()];
}
