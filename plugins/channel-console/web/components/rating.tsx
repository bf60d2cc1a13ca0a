import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { feedbackOf, giveFeedback } from "../state/feedback.ts";
import { mayHere } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { toast } from "./announce.tsx";

const ratings = [
  { label: "good", score: 1, sign: "Good" },
  { label: "bad", score: -1, sign: "Bad" },
] as const;

/** Feedback on a run, or on what was said at one of its events. */
export function Rating({ run, seq }: { run: string; seq?: number }): JSX.Element | null {
  const all = feedbackOf(run).value.filter((each) => each.seq === seq);
  const noting = useSignal(false);
  if (!mayHere("steer") && all.length === 0) return null;
  const give = (given: { label?: string; score?: number; comment?: string }) =>
    void giveFeedback(run, { ...given, ...(seq === undefined ? {} : { seq }) }).catch((thrown: unknown) =>
      toast(thrown instanceof Error ? thrown.message : String(thrown)),
    );
  const own = all.at(-1);
  const note = (event: Event) => {
    event.preventDefault();
    const text = new FormData(event.currentTarget as HTMLFormElement).get("note"); // The form it is bound to.
    noting.value = false;
    if (typeof text !== "string" || text.trim() === "") return;
    give({
      comment: text.trim(),
      ...(own?.label === undefined ? {} : { label: own.label }),
      ...(own?.score === undefined ? {} : { score: own.score }),
    });
  };
  return (
    <span class={seq === undefined ? "rating" : "rating of-message"}>
      {mayHere("steer")
        ? ratings.map(({ label, score, sign }) => (
            <button
              key={label}
              type="button"
              class="quiet small"
              data-rate={label}
              aria-label={`Rate ${seq === undefined ? "this run" : "this answer"} ${label}`}
              aria-pressed={own?.label === label}
              onClick={() => give({ label, score, ...(own?.comment === undefined ? {} : { comment: own.comment }) })}
            >
              {sign}
            </button>
          ))
        : null}
      {noting.value ? (
        <form onSubmit={note}>
          <input
            name="note"
            aria-label="Note"
            maxLength={4000}
            value={own?.comment ?? ""}
            placeholder="Note, then Enter"
          />
        </form>
      ) : mayHere("steer") ? (
        <button type="button" class="quiet small" onClick={() => (noting.value = true)}>
          {own?.comment === undefined ? "Note" : "Edit note"}
        </button>
      ) : null}
      {all.map(({ comment, by, label }) =>
        comment === undefined ? null : (
          <span key={by} class="note" dir="auto">
            {label === undefined ? null : <b>{printable(label)} </b>}
            {printable(comment)} <span class="faint">{printable(by)}</span>
          </span>
        ),
      )}
    </span>
  );
}
