import type { JSX } from "preact";
import { slowClock } from "../state/clock.ts";
import type { Sample } from "../state/service.ts";
import { ago, bytes, count, duration, money } from "../text/words.ts";
import { Spark, type SparkProps } from "./spark.tsx";

export function Figures({ samples, every }: { samples: readonly Sample[]; every: number }): JSX.Element {
  const of = (name: string, scale = 1) =>
    samples.map((sample) => (sample[name] === undefined ? undefined : (sample[name] ?? 0) * scale));
  const perSecond = 1000 / every;
  const rate = (value: number) => `${value < 10 ? value.toFixed(1) : Math.round(value)}/s`;
  const charts: readonly Omit<SparkProps, "since">[] = [
    { title: "In line", values: of("queued"), form: count, tone: "warm" },
    { title: "Runs ended", values: of("ended", perSecond), form: rate },
    { title: "Failed", values: of("failed"), form: count, tone: "warm" },
    { title: "Under way", values: of("active"), form: count },
    { title: "Duration, median", values: of("p50"), form: duration },
    { title: "Duration, p95", values: of("p95"), form: duration },
    { title: "First token", values: of("firstToken"), form: duration },
    { title: "Tokens out", values: of("outputTokens", perSecond), form: rate },
    ...(samples.some(({ cost }) => cost !== undefined) ? [{ title: "Cost", values: of("cost"), form: money }] : []),
    { title: "Retried", values: of("retried"), form: count, tone: "warm" },
    { title: "Failed over", values: of("failedOver"), form: count, tone: "warm" },
    { title: "Journal commit", values: of("commitMs"), form: duration },
    { title: "Event loop blocked", values: of("blockedMs"), form: duration, tone: "warm" },
    { title: "Heap", values: of("heapBytes"), form: bytes },
  ];
  const [first] = samples;
  const since = first === undefined ? undefined : ago(first.at, slowClock.value);
  return (
    <section aria-label="Figures of the last hour">
      <h2 class="sparks-head">
        This process <span class="faint">over the last hour, a point every {every / 1000} s</span>
      </h2>
      <div class="sparks">
        {charts.map((chart) => (
          <Spark key={chart.title} {...chart} since={since} />
        ))}
      </div>
    </section>
  );
}
