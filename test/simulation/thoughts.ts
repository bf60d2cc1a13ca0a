import type { Message } from "../../src/core/model/messages.ts";
import type { RunEvent } from "../../src/core/run/events.ts";

/** What a refusal begins with. */
export const refusal = "I refuse.";

/** Made by the model that thought it, of the whole text; no other model takes it. */
export const proofOf = (model: string, text: string): string => `${model} thought "${text}"`;

interface Thought {
  text: string;
  readonly part: number | undefined;
  signature: string | undefined;
}

/** A model is sent what it has thought itself, whole and unchanged. What a guard has changed has no proof any more. */
export function checkReturned(
  messages: readonly Message[],
  { model, guarded }: { model: string; guarded: boolean },
  say: (what: string) => void,
): void {
  for (const part of messages.flatMap(({ parts }) => parts)) {
    if (part.type !== "reasoning") continue;
    if (part.signature === undefined ? !guarded : part.signature !== proofOf(model, part.text))
      say(`${model} is sent "${part.text}", with the proof ${part.signature}`);
  }
}

/** What a finished generation thought is stored whole, and a run ends as refused if its last generation was. */
export function checkThoughts(events: readonly RunEvent[], guarded: boolean, say: (what: string) => void): void {
  let model = "";
  let thoughts: Thought[] = [];
  let refused = false;
  for (const event of events)
    switch (event.type) {
      case "round.started":
        model = event.model.split("/")[0] ?? "";
        [thoughts, refused] = [[], false];
        break;
      case "round.retracted":
        [thoughts, refused] = [[], false];
        break;
      case "refusal.delta":
        refused = true;
        break;
      case "reasoning.delta":
        think(thoughts, event);
        break;
      case "generation.finished":
        if ((event.finish === "refusal") !== refused)
          say(`a generation ends with ${event.finish}, refused: ${refused}`);
        for (const { text, signature } of thoughts)
          if (signature === undefined ? !guarded : signature !== proofOf(model, text))
            say(`"${text}" is stored with the proof ${signature}`);
        break;
      case "run.finished":
        if (event.finish === "refusal" && !refused) say("ends as refused, and nobody has refused");
        if (event.finish === "stop" && refused) say("ends with an answer, and the model has refused");
    }
}

function think(thoughts: Thought[], { part, text, signature }: Extract<RunEvent, { type: "reasoning.delta" }>): void {
  const last = thoughts.at(-1);
  const open = last !== undefined && (part === undefined || part === last.part) ? last : undefined;
  if (open === undefined) thoughts.push({ text, part, signature });
  else {
    open.text += text;
    open.signature = signature ?? open.signature;
  }
}
