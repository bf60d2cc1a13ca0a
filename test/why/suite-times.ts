import { expect } from "chai";
import { foldAll } from "../../plugins/channel-console/web/fold/fold.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import { timeParts, timingKey } from "../../src/core/run/run-times.ts";
import type { Why } from "../../src/serve/why/why.ts";
import { venturi } from "../cli/venturi.ts";
import { House } from "./house.ts";
import { type Planted, planted } from "./planted.ts";
import { configOf, modules } from "./planted-config.ts";

/** Times of events are whole milliseconds, and the last one is written after its timing was computed. */
const tolerated = 2;

interface Row {
  readonly run: string;
  readonly digest?: { readonly ms: number; readonly timing: Readonly<Record<string, number>> };
}

/** Every planted problem, in one whole service: who shows a run's times shows the same. */
describe("one run has one set of times", function () {
  this.timeout(120_000);
  const house = new House({ config: configOf(planted), files: { "tools.mjs": modules } });
  const runs = new Map<Planted, string>();
  let rows: Row[] = [];

  before(async () => {
    await house.start();
    const waiting = [...planted.entries()];
    const worker = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        runs.set(next[1], await play(house, ...next));
      }
    };
    await Promise.all(Array.from({ length: 4 }, worker));
    rows = (await house.ask<{ runs: Row[] }>("/v1/runs?limit=200")).runs;
  });
  after(() => house.close());

  for (const problem of planted) {
    it(`of ${problem.name}, whose cause is ${problem.cause}`, async () => {
      const run = runs.get(problem) ?? "";
      const why = await house.why(run);
      expect(why.cause, why.summary).to.equal(problem.cause);
      const summary = why.summary.replaceAll(/limited\d+/g, "limited").replaceAll(/anyone/gi, "ann");
      for (const pattern of problem.says) expect(summary).to.match(pattern);
      const events = await house.events(run);
      const told = await whatIsTold(run, events, why);
      for (const [source, times] of Object.entries(told)) {
        for (const part of ["total", ...timeParts] as const) {
          expect(times[part] ?? 0, `${part} of ${source}, ${why.summary}`).to.be.closeTo(
            told.why?.[part] ?? 0,
            tolerated,
          );
        }
      }
    });
  }

  const whatIsTold = async (run: string, events: RunEvent[], why: Why): Promise<Record<string, Times>> => {
    const row = rows.find((each) => each.run === run);
    const last = events.at(-1) as Extract<RunEvent, { type: "run.finished" }>; // of an ended run
    const line = house.log.find(
      (each) => /^run (finished|failed)$/.test(String(each.message ?? each.msg)) && each.run === run,
    );
    const console = foldAll(run, events as never); // an exported type of the same schema
    const trace = await venturi(["trace", run, "--url", house.url, "--config", house.configFile, "--json"]);
    return {
      why: { total: why.ms, ...sums(why.parts) },
      list: { ...fromTiming(row?.digest?.timing), total: row?.digest?.ms },
      event: fromTiming(last.timing),
      view: fromTiming((await house.view(run)).timing as Record<string, number>),
      ribbon: withTotal(console.times.totals()),
      // The line has the sum alone.
      log: { ...withTotal(console.times.totals()), total: Number(line?.ms) },
      trace: fromTiming(attributesOf(trace.out, run)),
    };
  };
});

type Times = Partial<Record<(typeof timeParts)[number] | "total", number | undefined>>;

const withTotal = (times: Times): Times => ({
  ...times,
  total: Object.values(times).reduce<number>((sum, ms) => sum + (ms ?? 0), 0),
});

const fromTiming = (timing: Readonly<Record<string, number>> = {}): Times =>
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

async function play(house: House, index: number, { act, before = 0 }: Planted): Promise<string> {
  const agent = `subject${index}`;
  for (let n = 0; n < before; n++) await house.ended(await house.run(agent));
  const session = act === "queue" ? { session: "s" } : {};
  const first = act === "queue" ? await house.run("helper", session) : undefined;
  const run = await house.run(agent, session);
  if (first !== undefined) {
    await new Promise((resolve) => setTimeout(resolve, 700));
    await house.ask(`/v1/runs/${first}/cancel`, {});
  }
  if (act === "approve" || act === "deny") {
    const events = await house.has(run, "approval.requested");
    const asked = events.find((event) => event.type === "approval.requested");
    if (act === "approve") await new Promise((resolve) => setTimeout(resolve, 700));
    const answer = act === "approve" ? { approved: true } : { approved: false, reason: "too much" };
    await house.ask(`/v1/runs/${run}/approvals/${asked?.call}`, answer);
  }
  if (act === "cancel") {
    await house.has(run, "text.delta");
    await house.ask(`/v1/runs/${run}/cancel`, { reason: "enough" });
  }
  await house.ended(run);
  return run;
}
