import { expect } from "chai";
import { foldAll } from "../../plugins/channel-console/web/fold/fold.ts";
import { rowsOf } from "../../plugins/channel-console/web/fold/waterfall.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import { type TimePart, timeParts, timingKey } from "../../src/core/run/time-parts.ts";
import type { Why } from "../../src/serve/why/why.ts";
import { venturi } from "../cli/venturi.ts";
import type { House } from "./house.ts";

/** Parts are rounded one by one; the log's line and the digest round their sum. */
const tolerated = 1;

type Times = Partial<Record<TimePart | "total", number | undefined>>;
type Timing = Readonly<Record<string, number>>;
type RunView = ReturnType<typeof foldAll>;

/** Everybody who shows the times of an ended run shows the same. */
export async function sameTimes(house: House, run: string): Promise<Why> {
  const why = await house.why(run);
  const events = await house.events(run);
  const told = await whatIsTold(house, { run, events, why });
  for (const [source, times] of Object.entries(told)) {
    for (const part of ["total", ...timeParts] as const) {
      const expected = told.why?.[part] ?? 0;
      expect(times[part] ?? 0, `${part} of ${source}, ${why.summary}`).to.be.closeTo(expected, tolerated);
    }
  }
  const view = foldAll(run, events as never); // an exported type of the same schema
  const totals = view.times.totals();
  for (const part of ofRows)
    expect(inRows(view, part), `${part} in the waterfall`).to.be.closeTo(totals[part], tolerated);
  return why;
}

async function whatIsTold(
  house: House,
  { run, events, why }: { run: string; events: RunEvent[]; why: Why },
): Promise<Record<string, Times>> {
  const { runs } = await house.ask<{ runs: { run: string; digest?: { ms: number; timing: Timing } }[] }>(
    "/v1/runs?limit=200",
  );
  const digest = runs.find((each) => each.run === run)?.digest;
  const last = events.at(-1) as Extract<RunEvent, { type: "run.finished" | "run.failed" }>; // of an ended run
  const ofEnd = () =>
    house.log.find(
      (each) =>
        /^run (finished|failed|cannot be executed; ended as failed)$/.test(String(each.message ?? each.msg)) &&
        each.run === run,
    );
  // Lines come through a pipe, after the event that they tell of.
  for (let tries = 0; ofEnd() === undefined && tries < 100; tries++) await new Promise((next) => setTimeout(next, 20));
  const line = ofEnd();
  const { times } = foldAll(run, events as never); // as above
  const trace = await venturi(["trace", run, "--url", house.url, "--config", house.configFile, "--json"]);
  return {
    why: { total: why.ms, ...sums(why.parts) },
    list: { ...fromTiming(digest?.timing), total: digest?.ms },
    event: fromTiming(last.timing),
    view: fromTiming((await house.view(run)).timing as Timing),
    ribbon: withTotal(times.totals()),
    // The line has the sum alone.
    log: { ...withTotal(times.totals()), total: Number(line?.ms) },
    // A run that nobody executes any more is ended by a process that has no span of it.
    ...(last.type === "run.failed" && last.error.code === "worker_crashed"
      ? {}
      : { trace: fromTiming(attributesOf(trace.out, run)) }),
  };
}

/** Parts that rows of the waterfall are made of; the others may fall between two of them. */
const ofRows = [
  "providerWait",
  "providerStream",
  "providerStall",
  "failedAttempt",
  "backoff",
  "tool",
  "approval",
] as const;

/** The time that bars of this part cover, however many rows have it. */
function inRows(view: RunView, part: TimePart): number {
  const bars = rowsOf(view)
    .flatMap((row) => row.bars)
    .filter(({ kind, beside }) => kind === part && beside !== true)
    .sort((left, right) => left.from - right.from);
  let covered = 0;
  let until = 0;
  for (const { from, to = view.at } of bars) {
    covered += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  return covered;
}

const withTotal = (times: Times): Times => ({
  ...times,
  total: Object.values(times).reduce<number>((sum, ms) => sum + (ms ?? 0), 0),
});

const fromTiming = (timing: Timing = {}): Times =>
  withTotal(Object.fromEntries(timeParts.map((part) => [part, timing[timingKey(part)] ?? 0])));

function sums(parts: Why["parts"]): Times {
  const total: Times = {};
  for (const { part, ms } of parts) total[part as "tool"] = (total[part as "tool"] ?? 0) + ms;
  return total;
}

interface Span {
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

/** `venturi.timing.*` of the run's root, from OTLP JSON: there may be roots of called runs too. */
function attributesOf(json: string, run: string): Record<string, number> {
  const { resourceSpans } = JSON.parse(json) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }; // OTLP
  const spans = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans: inner }) => inner));
  const valueIn = ({ value }: Span["attributes"][number]) => Object.values(value)[0];
  const root = spans.find(
    ({ attributes }) =>
      attributes.some((each) => each.key === "venturi.run.id" && valueIn(each) === run) &&
      attributes.some(({ key }) => key.startsWith("venturi.timing.")),
  );
  const found = root?.attributes.filter(({ key }) => key.startsWith("venturi.timing.")) ?? [];
  return Object.fromEntries(found.map((each) => [each.key.slice("venturi.timing.".length), Number(valueIn(each))]));
}
