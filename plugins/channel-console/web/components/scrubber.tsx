import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { LiveRun } from "../state/live.ts";
import { setQuery } from "../state/router.ts";
import { duration } from "../text/words.ts";
import { Icon } from "./icon.tsx";

const speeds = [1, 4, 16] as const;

/** Shows the run at any event: drag, step, or play at the original pace. */
export function Scrubber({ live }: { live: LiveRun }): JSX.Element | null {
  live.tick.value;
  const playing = useSignal(false);
  const speed = useSignal<number>(1);
  const { head, startedAt } = live.whole;
  const at = live.at.value;
  const seek = (seq: number) => {
    const ended = live.whole.endedAt !== undefined;
    live.seek(seq >= head && (ended || !playing.value) ? undefined : seq);
  };
  useEffect(() => {
    if (!playing.value) return;
    let frame = 0;
    const from = live.events[(live.at.value ?? 1) - 1]?.at ?? startedAt;
    const start = performance.now();
    const turn = () => {
      const until = from + (performance.now() - start) * speed.value;
      let seq = live.at.value ?? 1;
      while (seq < live.events.length && (live.events[seq]?.at ?? 0) <= until) seq += 1;
      if (seq >= live.events.length) {
        playing.value = false;
        live.seek(undefined);
        return;
      }
      live.seek(seq);
      frame = requestAnimationFrame(turn);
    };
    frame = requestAnimationFrame(turn);
    return () => cancelAnimationFrame(frame);
  }, [playing.value, speed.value, live]);
  if (head < 2) return null;
  const play = () => {
    if (!playing.value && live.at.value === undefined) live.seek(1);
    playing.value = !playing.value;
    if (!playing.value) keep();
  };
  const keep = () => setQuery({ at: live.at.value === undefined ? undefined : String(live.at.value) });
  const event = live.events[(at ?? head) - 1];
  const offset = event === undefined ? "" : duration(Math.max(0, event.at - startedAt));
  return (
    <div class={at === undefined ? "scrubber" : "scrubber past"}>
      <button type="button" class="quiet small" aria-label={playing.value ? "Pause" : "Play from here"} onClick={play}>
        <Icon name={playing.value ? "pause" : "play"} size={14} />
      </button>
      <input
        type="range"
        min={1}
        max={head}
        value={at ?? head}
        aria-label="Show the run as it was at event"
        aria-valuetext={`event ${at ?? head} of ${head}, ${event?.type ?? ""}`}
        onInput={(change) => {
          playing.value = false;
          seek(Number(change.currentTarget.value));
        }}
        onChange={keep}
      />
      <span class="scrub-fact mono">
        {at ?? head}/{head}
      </span>
      <span class="scrub-fact mono wide-only">{offset}</span>
      <select
        aria-label="Speed"
        value={speed.value}
        onChange={(change) => {
          speed.value = Number(change.currentTarget.value);
        }}
      >
        {speeds.map((each) => (
          <option key={each} value={each}>
            {each}×
          </option>
        ))}
      </select>
      {at === undefined ? null : (
        <button
          type="button"
          class="quiet small"
          onClick={() => {
            playing.value = false;
            live.seek(undefined);
            keep();
          }}
        >
          {live.whole.endedAt === undefined ? "Live" : "End"}
        </button>
      )}
    </div>
  );
}
