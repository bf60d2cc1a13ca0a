import type { JSX } from "preact";
import { Header } from "../parts/header.tsx";
import { Status } from "../parts/status.tsx";
import { useResource } from "../state/resource.ts";
import { agents, client } from "../state/session.ts";
import { printable } from "../text/printable.ts";

/** How the service itself is. */
export function ServicePage(): JSX.Element {
  const ready = useResource(
    (signal) => client.value.request<{ status: string }>({ op: "service.ready", path: "/readyz", signal }),
    [],
    5000,
  );
  return (
    <div class="page">
      <Header title="Service">
        {ready.data === undefined ? null : <Status status={ready.error === undefined ? "finished" : "failed"} />}
      </Header>
      <div class="scroll service">
        <table class="figures">
          <thead>
            <tr>
              <th>Agent</th>
              <th>Model</th>
              <th>Tools</th>
            </tr>
          </thead>
          <tbody>
            {agents.value.map(({ name, model, tools }) => (
              <tr key={name}>
                <th scope="row">{printable(name)}</th>
                <td class="mono">{printable(model)}</td>
                <td>{printable(tools.map((tool) => tool.name).join(", "))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
