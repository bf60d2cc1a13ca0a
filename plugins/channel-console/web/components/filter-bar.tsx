import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { RunRow } from "../state/api-types.ts";
import { base, query, setQuery } from "../state/router.ts";
import { agents } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { completionsOf, isFilter, readSearch, searchNames } from "../text/search.ts";
import { short } from "../text/words.ts";
import { Icon } from "./icon.tsx";
import { SavedViews } from "./saved-views.tsx";
import { Status } from "./status.tsx";
import { TimeRange } from "./time-range.tsx";

const statuses = ["running", "waiting", "finished", "failed", "cancelled"] as const;
const statusWords = {
  running: "running",
  waiting: "waiting",
  finished: "finished",
  failed: "failed",
  cancelled: "stopped",
};

/** Filters and order of the list; all of it is in the address. */
export function FilterBar({ rows }: { rows: readonly RunRow[] }): JSX.Element {
  const words = query.value;
  const status = words.get("status");
  return (
    <div class="filters">
      <SearchBox rows={rows} />
      <div class="filter-rest">
        <fieldset class="segmented" aria-label="Status">
          {statuses.map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={status === each}
              onClick={() => setQuery({ status: status === each ? undefined : each })}
            >
              <Status status={each} compact quiet />
              <span>{statusWords[each]}</span>
            </button>
          ))}
        </fieldset>
        <Choice
          label="Agent"
          name="agent"
          choices={[["", "All agents"], ...agents.value.map(({ name }) => [name, name] as const)]}
        />
        <TimeRange />
        <Choice
          label="Duration"
          name="min"
          choices={[
            ["", "Any duration"],
            ["1000", "Over 1 s"],
            ["10000", "Over 10 s"],
            ["60000", "Over 1 min"],
          ]}
        />
        <Choice
          label="Order"
          name="sort"
          choices={[
            ["", "Newest first"],
            ["oldest", "Oldest first"],
            ["longest", "Longest first"],
            ["costliest", "Costliest first"],
          ]}
        />
        {[...words]
          .filter(([name]) => isFilter(name))
          .map(([name, value]) => (
            <button key={name} type="button" class="chip removable" onClick={() => setQuery({ [name]: undefined })}>
              <bdi>
                {printable(short(name, 40))}: {printable(short(value, 40))}
              </bdi>
              <span class="hidden-text"> remove this filter</span> <Icon name="cross" size={12} />
            </button>
          ))}
        {words.size === 0 ? null : (
          <a class="quiet" href={`${base}/runs`}>
            Clear
          </a>
        )}
        <SavedViews />
      </div>
    </div>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly name: string;
  readonly choices: readonly (readonly [string, string])[];
}

const Choice = ({ label, name, choices }: ChoiceProps): JSX.Element => (
  <select
    aria-label={label}
    value={query.value.get(name) ?? ""}
    onChange={(event) => setQuery({ [name]: event.currentTarget.value })}
  >
    {choices.map(([value, word]) => (
      <option key={value} value={value}>
        {printable(word)}
      </option>
    ))}
  </select>
);

/** Search box with filters that autocomplete: names first, then known values. */
function SearchBox({ rows }: { rows: readonly RunRow[] }): JSX.Element {
  const text = useSignal<string | undefined>(undefined);
  const at = useSignal(-1);
  const written = text.value ?? query.value.get("q") ?? "";
  const { before, found } =
    text.value === undefined ? { before: "", found: [] } : completionsOf(written, valuesOf(rows));
  const take = (completion: string) => {
    at.value = -1;
    text.value = before + completion;
    if (!completion.endsWith(":")) apply(text.value);
  };
  const apply = (all: string) => {
    const { text: rest, filters } = readSearch(all);
    text.value = undefined;
    setQuery({ ...filters, q: rest });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const chosen = found[at.value];
    if (step !== 0 && found.length > 0) {
      event.preventDefault();
      at.value = (at.value + step + found.length) % found.length;
    } else if ((event.key === "Enter" || event.key === "Tab") && chosen !== undefined) {
      event.preventDefault();
      take(chosen);
    } else if (event.key === "Tab" && found[0] !== undefined) {
      event.preventDefault();
      take(found[0]);
    } else if (event.key === "Enter") apply(written);
    else if (event.key === "Escape") text.value = undefined;
  };
  return (
    <div class="search">
      <Icon name="search" size={14} />
      <input
        id="search"
        role="combobox"
        autocomplete="off"
        aria-label="Search runs"
        aria-expanded={found.length > 0}
        aria-controls="completions"
        aria-autocomplete="list"
        aria-activedescendant={at.value < 0 ? undefined : `completion-${at.value}`}
        placeholder="Search, status:failed since:1h …"
        title={`Words, or ${searchNames.join(":, ")}: and metadata.NAME: with a value`}
        value={written}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          at.value = -1;
        }}
        onKeyDown={onKeyDown}
        onChange={() => text.value !== undefined && found.length === 0 && apply(text.value)}
        onBlur={() => setTimeout(() => (text.value = undefined), 150)}
      />
      <div id="completions" role="listbox" aria-label="Completions" hidden={found.length === 0} class="completions">
        {found.map((completion, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the combobox above handles keys
          <div
            key={completion}
            id={`completion-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at.value}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => {
              take(completion);
              document.getElementById("search")?.focus();
            }}
          >
            {printable(completion)}
          </div>
        ))}
      </div>
    </div>
  );
}

/** Values seen on this page. */
function valuesOf(rows: readonly RunRow[]): Readonly<Record<string, readonly string[]>> {
  const of = (value: (row: RunRow) => string | readonly string[] | undefined) =>
    [...new Set(rows.flatMap((row) => value(row) ?? []))].sort();
  return {
    status: [...statuses],
    agent: agents.value.map(({ name }) => name),
    tenant: of(({ tenant }) => tenant),
    code: of(({ digest }) => digest?.code),
    label: ["good", "bad"],
    since: ["1h", "24h", "7d", "30d"],
    until: ["1h", "24h", "7d"],
    tool: of(({ digest }) => digest?.tools),
    model: of(({ digest }) => digest?.models),
    session: of(({ session }) => session),
    key: of(({ digest }) => digest?.by),
  };
}
