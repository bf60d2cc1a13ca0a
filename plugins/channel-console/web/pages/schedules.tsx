import type { JSX } from "preact";
import { confirm } from "../components/confirm.tsx";
import { Listed } from "../components/listed.tsx";
import { useResource } from "../state/resource.ts";
import { to } from "../state/router.ts";
import { client, may } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { shortRun } from "../text/words.ts";

interface Schedule {
  readonly name: string;
  readonly source: "config" | "api";
  readonly tenant: string;
  readonly agent: string;
  readonly cron?: string;
  readonly at?: string;
  readonly timezone: string;
  readonly overlap: string;
  readonly next: readonly string[];
  readonly last: readonly {
    readonly time: string;
    readonly run?: string;
    readonly skipped?: string;
    readonly error?: string;
  }[];
}

/** Schedules: the next time, and the outcome of the last. */
export function SchedulesPage(): JSX.Element {
  const resource = useResource(
    (signal) => client.value.request<{ schedules: Schedule[] }>({ op: "schedule.list", path: "/v1/schedules", signal }),
    [],
    5000,
  );
  const remove = async ({ name }: Schedule) => {
    const path = `/v1/schedules/${encodeURIComponent(name)}`;
    await client.value.request({ op: "schedule.remove", method: "DELETE", path });
    resource.again();
  };
  return (
    <Listed
      title="Schedules"
      resource={resource}
      items={resource.data?.schedules ?? []}
      row={(schedule) => (
        <One
          key={`${schedule.tenant}/${schedule.name}`}
          schedule={schedule}
          remove={() =>
            confirm({
              title: `Remove ${schedule.name}?`,
              text: "It starts no more runs. Those that it started stay.",
              word: "Remove",
              run: () => remove(schedule),
            })
          }
        />
      )}
      empty="Nothing is scheduled"
      hint={
        <>
          Write <code>schedules:</code> in the configuration, or make one with <code>POST /v1/schedules</code>.
        </>
      }
    />
  );
}

function One({ schedule, remove }: { schedule: Schedule; remove: () => void }): JSX.Element {
  const { name, agent, cron, at, timezone, overlap, next, last, source } = schedule;
  return (
    <section class="panel">
      <h2>{printable(name)}</h2>
      <p class="muted">
        {printable(agent)}, <code>{printable(cron ?? at ?? "")}</code> {cron === undefined ? "" : printable(timezone)},{" "}
        {printable(overlap)}
        {source === "api" && may("schedule") ? (
          <>
            {" "}
            <button type="button" class="quiet" onClick={remove}>
              Remove
            </button>
          </>
        ) : null}
      </p>
      <table class="figures">
        <tbody>
          {next.toReversed().map((time) => (
            <tr key={time}>
              <td class="mono">{when(time)}</td>
              <td class="faint">next</td>
            </tr>
          ))}
          {last.slice(0, 5).map(({ time, run, skipped, error }) => (
            <tr key={time}>
              <td class="mono">{when(time)}</td>
              <td>
                {run === undefined ? (
                  <span class={error === undefined ? "muted" : "problem"}>
                    {printable(error ?? `skipped: ${skipped}`)}
                  </span>
                ) : (
                  <a class="mono" href={to("runs", run)}>
                    {shortRun(run)}
                  </a>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** In the reader's own time zone. */
const when = (time: string): string => new Date(time).toLocaleString();
