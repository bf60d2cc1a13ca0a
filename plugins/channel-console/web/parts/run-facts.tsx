import type { JSX } from "preact";
import type { RunView } from "../fold/view.ts";
import { count, duration, money } from "../text/words.ts";
import { endOf } from "./ribbon.tsx";
import { Status } from "./status.tsx";

/** How a run stands, in figures. */
export function RunFacts({
  view,
  frozen,
  cost,
}: {
  view: RunView;
  frozen: boolean;
  cost?: number | undefined;
}): JSX.Element {
  const end = endOf(view, frozen);
  const tokens = view.usage?.outputTokens ?? view.rounds.reduce((sum, { attempts }) => sum + tokensOf(attempts), 0);
  const input = view.usage?.inputTokens;
  const streamed = view.ribbon.totals(end).stream;
  const rate = streamed > 50 && tokens > 0 ? (tokens / streamed) * 1000 : undefined;
  return (
    <>
      <Status status={view.status} />
      {view.startedAt === 0 ? null : <span class="fact">{duration(end - view.startedAt)}</span>}
      {tokens === 0 ? null : (
        <span class="fact" title="tokens in, tokens out">
          {input === undefined ? "" : `${count(input)} in, `}
          {count(tokens)} out
        </span>
      )}
      {cost === undefined ? null : (
        <span class="fact" title="what its own generations cost, at the prices of the configuration">
          {money(cost)}
        </span>
      )}
      {rate === undefined ? null : <span class="fact wide-only">{Math.round(rate)} tok/s</span>}
    </>
  );
}

/** What is not reported yet is estimated from the pieces. */
const tokensOf = (attempts: RunView["rounds"][number]["attempts"]): number =>
  attempts.reduce((sum, { usage, ticks }) => sum + (usage?.outputTokens ?? ticks.length), 0);
