import type { JSX } from "preact";

export interface SparkProps {
  readonly title: string;
  readonly values: readonly (number | undefined)[];
  readonly form: (value: number) => string;
  readonly tone?: "plain" | "warm";
  /** When the first value was taken, as text. */
  readonly since: string | undefined;
}

const width = 200;
const height = 36;

/** A figure over the last hour with its newest and highest values. Gaps stay gaps. */
export function Spark({ title, values, form, tone = "plain", since }: SparkProps): JSX.Element {
  const known = values.filter((value) => value !== undefined);
  const most = Math.max(0, ...known);
  const latest = known.at(-1);
  const words = latest === undefined ? "nothing yet" : `${form(latest)} now, at most ${form(most)}`;
  return (
    <figure class={`spark ${tone}`}>
      <figcaption>
        <span class="muted">{title}</span>
        <span class="spark-now">
          <b>{latest === undefined ? "–" : form(latest)}</b>
          <span class="faint">max {known.length === 0 ? "–" : form(most)}</span>
        </span>
      </figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={`${title}: ${words}`}>
        <line x1="0" x2={width} y1={height - 1} y2={height - 1} />
        <path d={pathOf(values, most)} />
      </svg>
      <span class="spark-axis faint">
        <span>{since ?? ""}</span>
        <span>now</span>
      </span>
    </figure>
  );
}

function pathOf(values: readonly (number | undefined)[], most: number): string {
  const step = width / Math.max(1, values.length - 1);
  let path = "";
  let drawing = false;
  for (const [at, value] of values.entries()) {
    if (value === undefined) {
      drawing = false;
      continue;
    }
    const y = height - 2 - (most === 0 ? 0 : (value / most) * (height - 4));
    path += `${drawing ? "L" : "M"}${(at * step).toFixed(1)} ${y.toFixed(1)}`;
    // A single value is drawn as a dot.
    if (!drawing && values[at + 1] === undefined) path += "h0.5";
    drawing = true;
  }
  return path;
}
