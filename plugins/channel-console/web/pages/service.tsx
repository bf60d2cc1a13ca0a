import type { JSX } from "preact";
import { CopyButton } from "../components/copy.tsx";
import { Empty, Header } from "../components/header.tsx";
import { Icon } from "../components/icon.tsx";
import { Processes, Replicas } from "../components/processes.tsx";
import { Figures } from "../components/service-figures.tsx";
import { PluginsPanel, ProcessPanel, ProvidersPanel, ToolsPanel } from "../components/service-panels.tsx";
import { useResource } from "../state/resource.ts";
import type { Sample, ServiceView } from "../state/service.ts";
import { client } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { duration } from "../text/words.ts";

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
            <ProcessPanel {...data} />
            <ProvidersPanel {...data} />
          </div>
          <div class="service-columns">
            <Processes processes={data.processes ?? []} />
            <Replicas replicas={data.replicas} processes={data.processes ?? []} />
          </div>
          <ToolsPanel {...data} />
          <PluginsPanel {...data} />
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
