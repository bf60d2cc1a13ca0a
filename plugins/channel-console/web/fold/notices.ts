import { byWhom } from "venturi/internal/fold";
import type { EventOf, RunEvent } from "../state/api-types.ts";
import { duration } from "../text/words.ts";
import type { Notice, RunView } from "./view.ts";

/** What the conversation says between two messages about an event. */
export function noticesOf(event: RunEvent, view: RunView): Notice[] {
  return wordsOf(event, view).map(([title, text, tone = "info"]) => ({
    kind: "notice",
    tone,
    seq: event.seq,
    at: event.at,
    title,
    text,
    event,
  }));
}

type Words = readonly [title: string, text: string, tone?: Notice["tone"]];

function wordsOf(event: RunEvent, view: RunView): Words[] {
  switch (event.type) {
    case "round.started":
      return attemptWords(event, view);
    case "generation.failed": {
      // A person's stop ends the generation too; the run's end says who it was.
      if (event.error.code === "stream_interrupted") return [];
      const retry = event.retryMs === undefined ? "" : ` Tries again in ${duration(event.retryMs)}.`;
      return [[`${event.model}: ${event.error.code}`, `${event.error.err}${retry}`, "error"]];
    }
    case "agent.changed":
      return [["Handed over", `to ${event.agent}`]];
    case "budget.warned":
      return [["Budget", `${event.budget} has reached 80 %`]];
    case "budget.exceeded":
      return [["Budget", `${event.budget} is used up`]];
    case "run.paused":
      return [["Paused", event.reason ?? "It goes on when somebody resumes it."]];
    case "run.continued":
      return [["Continued", byWhom(event.by).trim()]];
    case "tools.found":
      return [["Tools found", event.names.join(", ")]];
    case "guard.decided":
      return [["Guard", guardText(event)]];
    case "agent.revised":
      return [["Revised", `goes on with another revision of ${event.agent}`]];
    case "memory.recalled":
      return [["Recalled", recalledLine(event), event.error === undefined ? "info" : "warning"]];
    case "context.compacted":
      return [["Context compacted", compactedText(event)]];
    case "run.resumed":
      return [["Resumed", "Another worker went on where the last one stopped."]];
    default:
      return [];
  }
}

function attemptWords({ round, model, warnings = [], skipped = [] }: EventOf<"round.started">, view: RunView): Words[] {
  const before = view.roundOf(round)?.attempts.at(-2);
  const words: Words[] = warnings.map((warning) => ["Not sent to the model", warning]);
  if (before !== undefined && before.model !== model)
    words.unshift(["Failed over", `${before.model} → ${model}`, "warning"]);
  if (skipped.length > 0) words.push(["Skipped", `${skipped.join(", ")}: the provider's breaker is open`]);
  return words;
}

const compactedText = ({ dropped, summary, results = [], error }: EventOf<"context.compacted">): string => {
  if (error !== undefined) return `No summary: ${error.err}`;
  if (summary !== undefined) return `A summary stands for ${dropped} older messages.`;
  return dropped === 0 && results.length > 0
    ? `${results.length} older results are sent as a reference.`
    : `${dropped} older messages are left out.`;
};

const recalledLine = ({ notes, store, error }: EventOf<"memory.recalled">): string => {
  const found = notes.length === 0 ? `nothing in ${store}` : `${notes.length} from ${store}`;
  return error === undefined ? found : `${found}: ${error.err}`;
};

/** "pii masked 2 email in the answer". */
function guardText({ guard, action, direction, rule, count = 1, reason }: EventOf<"guard.decided">): string {
  const did = { block: "refused", redact: "masked", ask: "asks about", log: "noted", pass: "had nothing against" }[
    action
  ];
  const what = rule === undefined ? "" : ` ${count} ${rule} in`;
  return `${guard} ${did}${what} the ${direction}${reason === undefined ? "" : `: ${reason}`}`;
}
