import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { addRow, type EventRow, isMishap, lineOf } from "../fold/event-rows.ts";
import type { LiveRun } from "../state/live.ts";
import { printable } from "../text/printable.ts";
import { count, duration, short } from "../text/words.ts";
import { Rows } from "./rows.tsx";

/** The run's events; consecutive deltas are one line. */
export function EventTable({
  live,
  selected,
  select,
}: {
  live: LiveRun;
  selected: string | undefined;
  select: (id: string) => void;
}): JSX.Element {
  live.tick.value;
  const filter = useSignal("");
  const onlyFailed = useSignal(false);
  const table = useMemo(() => ({ rows: [] as EventRow[], taken: 0 }), [live]);
  const until = live.at.value ?? Number.POSITIVE_INFINITY;
  for (; table.taken < live.events.length; table.taken += 1) {
    const event = live.events[table.taken];
    if (event !== undefined) addRow(table.rows, event);
  }
  const wanted = filter.value.trim().toLowerCase();
  const rows = table.rows.filter(
    (row) =>
      row.first.seq <= until &&
      (!onlyFailed.value || isMishap(row.first)) &&
      (wanted === "" || row.first.type.includes(wanted) || lineOf(row.first).toLowerCase().includes(wanted)),
  );
  const start = live.whole.startedAt;
  const chosen = selected?.startsWith("event ") ? Number(selected.slice(6)) : -1;
  return (
    <div class="events">
      <div class="filters">
        <input
          type="search"
          aria-label="Filter events"
          placeholder="Filter by type or text"
          value={filter.value}
          onInput={(event) => {
            filter.value = event.currentTarget.value;
          }}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={onlyFailed.value}
            onChange={(event) => {
              onlyFailed.value = event.currentTarget.checked;
            }}
          />
          Errors only
        </label>
        <span class="faint">
          {count(rows.length)} rows, {count(live.events.length)} events
        </span>
      </div>
      <div class="event-head" aria-hidden="true">
        <span>seq</span>
        <span>at</span>
        <span>type</span>
        <span />
      </div>
      <Rows
        label="Events"
        count={rows.length}
        height={26}
        selected={rows.findIndex(({ first, last }) => chosen >= first.seq && chosen <= last.seq)}
        choose={(index) => select(`event ${rows[index]?.first.seq ?? 1}`)}
        row={(index) => {
          const row = rows[index];
          if (row === undefined) return null;
          return (
            <div class={isMishap(row.first) ? "event-row error" : "event-row"}>
              <span class="mono faint">{row.count === 1 ? row.first.seq : `${row.first.seq}–${row.last.seq}`}</span>
              <span class="mono muted">{duration(Math.max(0, row.first.at - start))}</span>
              <span class={`mono type k-${row.first.type.split(/[._]/)[0]}`}>
                {row.count === 1 ? row.first.type : `${row.count} × ${row.first.type}`}
              </span>
              <span class="line">
                {row.count === 1
                  ? printable(short(lineOf(row.first).replaceAll(/\s+/g, " "), 200))
                  : `${count(row.size)} characters in ${duration(row.last.at - row.first.at)}`}
              </span>
            </div>
          );
        }}
      />
    </div>
  );
}
