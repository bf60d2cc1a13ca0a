import type { JSX } from "preact";
import { slowClock } from "../state/clock.ts";
import type { ServiceView } from "../state/service.ts";
import { printable } from "../text/printable.ts";
import { ago, duration, short } from "../text/words.ts";
import { Icon } from "./icon.tsx";

export function Processes({ processes }: { processes: NonNullable<ServiceView["processes"]> }): JSX.Element {
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
export function Replicas({
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
