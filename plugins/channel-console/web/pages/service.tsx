import type { JSX } from "preact";
import { CopyButton } from "../parts/copy.tsx";
import { Empty, Header } from "../parts/header.tsx";
import { Icon } from "../parts/icon.tsx";
import { Facts } from "../parts/inspector.tsx";
import { Spark, type SparkProps } from "../parts/spark.tsx";
import { slowClock } from "../state/clock.ts";
import { useResource } from "../state/resource.ts";
import { client } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { ago, bytes, count, duration, money, short } from "../text/words.ts";

interface ServiceView {
  readonly version: string;
  readonly node: string;
  readonly process: number;
  readonly uptimeMs: number;
  readonly ready: boolean;
  readonly reason?: string;
  readonly revision: {
    readonly hash: string;
    readonly file?: string;
    readonly runs: number;
    readonly runsOnOld: number;
  };
  readonly journal: { readonly type: string; readonly digests: boolean; readonly pingMs?: number };
  readonly eventLoop: { readonly blockedMs: number; readonly longestMs: number };
  readonly runs: { readonly active: number; readonly followers: number };
  readonly backlog?: {
    readonly ready: number;
    readonly waiting: number;
    readonly unexecutable: readonly { readonly agent: string; readonly runs: number }[];
  };
  readonly processes?: readonly {
    readonly number: number;
    readonly pid: number;
    readonly status: string;
    readonly startedAt: number;
    readonly restarts: number;
    readonly runs?: number;
  }[];
  readonly replicas?: {
    readonly known: boolean;
    readonly workers: readonly {
      readonly name: string;
      readonly pid?: number;
      readonly silentMs: number;
      readonly runs: number;
      readonly own: boolean;
      readonly alive: boolean;
    }[];
  };
  readonly providers: readonly {
    readonly name: string;
    readonly type: string;
    readonly breaker: "closed" | "open" | "half-open";
    readonly leftMs: number;
    readonly open?: readonly {
      readonly model?: string;
      readonly state: "closed" | "open" | "half-open";
      readonly leftMs: number;
      readonly tenants?: number;
    }[];
    readonly lastError?: { readonly at: number; readonly code: string; readonly err: string };
  }[];
  readonly models: readonly { readonly name: string; readonly chain: readonly string[] }[];
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly effect: string;
    readonly approval: string;
    readonly agents: readonly string[];
  }[];
  readonly channels: readonly { readonly name: string; readonly type: string }[];
  readonly plugins: readonly string[];
  readonly quirks?: Readonly<Record<string, number>>;
  readonly config?: string;
}

type Sample = { readonly at: number } & Readonly<Record<string, number | undefined>>;

/** State of the service. */
export function ServicePage(): JSX.Element {
  const { data, error, loading } = useResource(
    (signal) => client.value.request<ServiceView>({ op: "service.get", path: "/v1/service", signal }),
    [],
    5000,
  );
  const series = useResource(
    (signal) =>
      client.value.request<{ every: number; samples: Sample[] }>({
        op: "service.series",
        path: "/v1/service/series",
        signal,
      }),
    [],
    5000,
  );
  if (data === undefined) {
    if (loading) return <div class="page" aria-busy="true" />;
    return (
      <Empty title="This service does not tell about itself">
        <p class="muted">{printable(error?.message ?? "")}</p>
      </Empty>
    );
  }
  return (
    <div class="page">
      <Header title="Service">
        <span class={data.ready ? "status finished" : "status failed"}>
          <Icon name={data.ready ? "check" : "warning"} size={12} />
          {data.ready ? "Ready" : "Not ready"}
        </span>
        <span class="fact">Venturi {printable(data.version)}</span>
        <span class="fact wide-only">up {duration(data.uptimeMs)}</span>
      </Header>
      <div class="scroll">
        <div class="service">
          {data.reason === undefined ? null : (
            <p class="problem">
              <Icon name="warning" size={14} /> {printable(data.reason)}
            </p>
          )}
          <Figures samples={series.data?.samples ?? []} every={series.data?.every ?? 5000} />
          <div class="service-columns">
            <section class="panel">
              <h2>Process</h2>
              <Facts
                facts={[
                  ["runs under way", String(data.runs.active)],
                  ["in line", data.backlog === undefined ? undefined : queueWords(data.backlog)],
                  ["for a person", data.backlog === undefined ? undefined : String(data.backlog.waiting)],
                  ["readers", String(data.runs.followers)],
                  ["event loop", `blocked ${duration(data.eventLoop.blockedMs)} of the last 10 s`],
                  [
                    "journal",
                    `${data.journal.type}${data.journal.pingMs === undefined ? "" : `, answers in ${duration(data.journal.pingMs)}`}`,
                  ],
                  ["digests", data.journal.digests ? "kept" : "not kept by this journal"],
                  ["revision", data.revision.hash],
                  ["runs on older ones", String(data.revision.runsOnOld)],
                  ["configuration", data.revision.file],
                  ["node", data.node],
                  ["process", String(data.process)],
                ]}
              />
            </section>
            <section class="panel">
              <h2>Providers</h2>
              <table class="figures">
                <tbody>
                  {data.providers.map(({ name, type, breaker, leftMs, open, lastError }) => (
                    <tr key={name}>
                      <th scope="row">
                        {printable(name)} <span class="faint">{printable(type)}</span>
                        {open?.map(({ model, state, tenants }) => (
                          <div class="faint small-text" key={model}>
                            {model === undefined ? "its connections" : printable(model)}: {breakerWords[state]}
                            {tenants === undefined
                              ? ""
                              : ` for ${tenants} ${tenants === 1 ? "tenant" : "tenants"} only`}
                          </div>
                        ))}
                        {lastError === undefined ? null : (
                          <div class="faint small-text">
                            {printable(lastError.code)} {ago(lastError.at, slowClock.value)}: {printable(lastError.err)}
                          </div>
                        )}
                      </th>
                      <td class="num">
                        <Breaker state={breaker} leftMs={leftMs} />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
              <h2>Models</h2>
              <table class="figures">
                <tbody>
                  {data.models.map(({ name, chain }) => (
                    <tr key={name}>
                      <th scope="row">{printable(name)}</th>
                      <td class="mono">{printable(chain.join(" → "))}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </section>
          </div>
          <div class="service-columns">
            <Processes processes={data.processes ?? []} />
            <Replicas replicas={data.replicas} processes={data.processes ?? []} />
          </div>
          <section class="panel">
            <h2>Tools</h2>
            <table class="figures">
              <thead>
                <tr>
                  <th>Tool</th>
                  <th>Effect</th>
                  <th>Approval</th>
                  <th class="wide-only">Agents</th>
                </tr>
              </thead>
              <tbody>
                {data.tools.map(({ name, description, effect, approval, agents }) => (
                  <tr key={name}>
                    <th scope="row" title={printable(description)}>
                      <span class="mono">{printable(name)}</span>
                    </th>
                    <td>{printable(effect)}</td>
                    <td>{printable(approval)}</td>
                    <td class="muted wide-only">{printable(agents.join(", "))}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
          <section class="panel">
            <h2>Channels and plugins</h2>
            <p>
              {data.channels.map(({ name, type }) => (
                <span key={name} class="chip" title={printable(type)}>
                  {printable(name)}
                </span>
              ))}
            </p>
            <p class="muted">{printable(data.plugins.join(", "))}</p>
            {data.quirks === undefined || Object.keys(data.quirks).length === 0 ? null : (
              <Facts facts={Object.entries(data.quirks).map(([name, times]) => [name, count(times)])} />
            )}
          </section>
          {data.config === undefined ? null : (
            <section class="panel">
              <h2>
                Configuration <CopyButton text={data.config} label="Copy the configuration" />
              </h2>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
              <pre class="raw" tabIndex={0}>
                {printable(data.config)}
              </pre>
            </section>
          )}
        </div>
      </div>
    </div>
  );
}

/** Runs of all processes that no worker has claimed yet. */
function queueWords({ ready, unexecutable }: NonNullable<ServiceView["backlog"]>): string {
  const stranded = unexecutable.map(({ agent, runs }) => `${runs} of ${agent}, which no process here has`);
  return [String(ready), ...stranded].join("; ");
}

/** What a breaker means for the next call. */
const breakerWords = { closed: "calls go through", "half-open": "the next call tries it", open: "calls are held back" };

/** A half-open breaker stays so until the next call; nothing is wrong by then. */
function Breaker({ state, leftMs }: { state: keyof typeof breakerWords; leftMs: number }): JSX.Element {
  const tone = { closed: "finished", "half-open": "waiting", open: "failed" }[state];
  return (
    <span class={`status ${tone}`} title={`its breaker is ${state}`}>
      <Icon name={state === "closed" ? "check" : state === "open" ? "warning" : "clock"} size={12} />
      {breakerWords[state]}
      {state === "open" ? `, ${duration(leftMs)} more` : ""}
    </span>
  );
}

function Processes({ processes }: { processes: NonNullable<ServiceView["processes"]> }): JSX.Element {
  return (
    <section class="panel">
      <h2>Processes</h2>
      <table class="figures">
        <thead>
          <tr>
            <th>Process</th>
            <th>Status</th>
            <th class="num">Runs</th>
            <th class="num">Restarts</th>
            <th class="num">Since</th>
          </tr>
        </thead>
        <tbody>
          {processes.map(({ number, pid, status, startedAt, restarts, runs }) => (
            <tr key={pid}>
              <th scope="row">
                {number} <span class="faint mono">{pid}</span>
              </th>
              <td>
                <span class={status === "ready" ? "status finished" : "status failed"}>
                  <Icon name={status === "ready" ? "check" : "warning"} size={12} />
                  {printable(status.replaceAll("_", " "))}
                </span>
              </td>
              <td class="num mono">{runs ?? "–"}</td>
              <td class="num mono">{restarts}</td>
              <td class="num">{ago(startedAt, slowClock.value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {processes.length > 1 ? null : (
        <p class="faint small-text">
          One process. <code>server.processes: auto</code> runs one per processor.
        </p>
      )}
    </section>
  );
}

/** The journal's workers: the processes above, and those of other replicas. */
function Replicas({
  replicas,
  processes,
}: {
  replicas: ServiceView["replicas"];
  processes: NonNullable<ServiceView["processes"]>;
}): JSX.Element {
  const here = new Set(processes.map(({ pid }) => pid));
  const workers = replicas?.workers ?? [];
  return (
    <section class="panel">
      <h2>Workers of the journal</h2>
      {replicas?.known === true ? (
        <>
          <table class="figures">
            <thead>
              <tr>
                <th>Worker</th>
                <th>Lease</th>
                <th class="num">Runs</th>
                <th class="num">Heard of</th>
              </tr>
            </thead>
            <tbody>
              {workers.slice(0, 50).map(({ name, pid, silentMs, runs, own, alive }) => (
                <tr key={name}>
                  <th scope="row" title={printable(name)}>
                    <span class="mono">{pid ?? printable(short(name, 12))}</span>{" "}
                    <span class="faint">
                      {own
                        ? "this process"
                        : alive && pid !== undefined && here.has(pid)
                          ? "sibling"
                          : alive
                            ? "elsewhere"
                            : ""}
                    </span>
                  </th>
                  <td>
                    <span class={alive ? "status finished" : "status ready"}>
                      <Icon name={alive ? "check" : "cross"} size={12} />
                      {alive ? "alive" : runs > 0 ? "lost, runs are taken over" : "ended"}
                    </span>
                  </td>
                  <td class="num mono">{runs}</td>
                  <td class="num">{duration(silentMs)} ago</td>
                </tr>
              ))}
            </tbody>
          </table>
          <p class="faint small-text">
            {workers.length > 50 ? `${workers.length - 50} more. ` : ""}As the journal knows them: by heartbeats of the
            last hour. On which machine a worker runs is not known.
          </p>
        </>
      ) : (
        <p class="muted">This journal does not tell which other workers share it.</p>
      )}
    </section>
  );
}

function Figures({ samples, every }: { samples: readonly Sample[]; every: number }): JSX.Element {
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
