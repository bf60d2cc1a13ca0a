import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { query, setQuery } from "../state/router.ts";
import { momentOf } from "../text/search.ts";

const spans: readonly (readonly [string, string])[] = [
  ["", "Any time"],
  ["1h", "Last hour"],
  ["24h", "Last day"],
  ["7d", "Last week"],
  ["30d", "Last 30 days"],
];

/** Time range: a period up to now, or two dates. */
export function TimeRange(): JSX.Element {
  const [since, until] = [query.value.get("since") ?? "", query.value.get("until") ?? ""];
  const open = useSignal(false);
  const isSpan = until === "" && spans.some(([value]) => value === since);
  const choose = (value: string) => {
    open.value = value === "range";
    if (value !== "range") setQuery({ since: value, until: undefined });
  };
  return (
    <>
      <select
        aria-label="When"
        value={open.value || !isSpan ? "range" : since}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        {spans.map(([value, word]) => (
          <option key={value} value={value}>
            {word}
          </option>
        ))}
        <option value="range">From … to …</option>
      </select>
      {open.value || !isSpan ? (
        <span class="range">
          <Moment label="From" name="since" value={since} />
          <Moment label="To" name="until" value={until} />
        </span>
      ) : null}
    </>
  );
}

const Moment = ({ label, name, value }: { label: string; name: string; value: string }): JSX.Element => (
  <input
    type="datetime-local"
    aria-label={label}
    value={localOf(value)}
    onChange={(event) => {
      const date = new Date(event.currentTarget.value);
      setQuery({ [name]: Number.isNaN(date.getTime()) ? undefined : date.toISOString() });
    }}
  />
);

/** In the format of the input, in the reader's time zone. */
function localOf(value: string): string {
  const at = momentOf(value, Date.now());
  if (at === undefined) return "";
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
