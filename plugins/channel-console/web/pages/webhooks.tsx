import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { Listed } from "../components/listed.tsx";
import { useResource } from "../state/resource.ts";
import { to } from "../state/router.ts";
import { client, may } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { count, shortRun } from "../text/words.ts";

interface Webhook {
  readonly name: string;
  readonly url?: string;
  readonly events: readonly string[];
  readonly delivered?: number;
  readonly failed?: number;
  readonly waiting?: number;
  readonly dead?: number;
  readonly failedAt?: string;
  readonly error?: string;
}

interface Letter {
  readonly id: string;
  readonly run: string;
  readonly type: string;
  readonly attempts: number;
  readonly error: string;
  readonly at: string;
}

const pathOf = (name: string, rest = ""): string => `/v1/webhooks/${encodeURIComponent(name)}${rest}`;

/** Webhooks, and deliveries that failed. */
export function WebhooksPage(): JSX.Element {
  const resource = useResource(
    (signal) => client.value.request<{ webhooks: Webhook[] }>({ op: "webhook.list", path: "/v1/webhooks", signal }),
    [],
    5000,
  );
  return (
    <Listed
      title="Webhooks"
      resource={resource}
      items={resource.data?.webhooks ?? []}
      row={(webhook) => <One key={webhook.name} webhook={webhook} />}
      empty="No webhooks"
      hint={
        <>
          Write <code>webhooks:</code> in the configuration.
        </>
      }
    />
  );
}

function One({ webhook }: { webhook: Webhook }): JSX.Element {
  const { name, url, events, delivered = 0, failed = 0, waiting = 0, dead = 0, error, failedAt } = webhook;
  const said = useSignal("");
  const { data, again } = useResource(
    (signal) =>
      client.value.request<{ letters: Letter[] }>({ op: "webhook.dead", path: pathOf(name, "/dead"), signal }),
    [dead],
    5000,
  );
  const letters = data?.letters ?? [];
  const replay = async (ids?: readonly string[]) => {
    const body = ids === undefined ? {} : { ids };
    try {
      const call = { op: "webhook.replay", method: "POST", path: pathOf(name, "/replay"), body } as const;
      const { replayed } = await client.value.request<{ replayed: number }>(call);
      said.value = `${replayed} sent again`;
    } catch (thrown) {
      said.value = thrown instanceof Error ? thrown.message : String(thrown);
    }
    again();
  };
  return (
    <section class="panel">
      <h2>{printable(name)}</h2>
      <p class="muted">
        <code>{printable(url ?? "URLs of runs")}</code> {events.join(", ")}
      </p>
      <p>
        {count(delivered)} delivered, {count(failed)} failed tries, {count(waiting)} waiting, {count(dead)} dead
      </p>
      {error === undefined ? null : (
        <p class="muted">
          Last failure {failedAt === undefined ? "" : new Date(failedAt).toLocaleString()}: {printable(error)}
        </p>
      )}
      {letters.length === 0 ? null : (
        <table class="figures">
          <tbody>
            {letters.map(({ id, run, type, attempts, error: why, at }) => (
              <tr key={id}>
                <td class="mono">{new Date(at).toLocaleString()}</td>
                <td>{printable(type)}</td>
                <td>
                  <a class="mono" href={to("runs", run)}>
                    {shortRun(run)}
                  </a>
                </td>
                <td class="muted">
                  {attempts} tries: {printable(why)}
                </td>
                <td>
                  {may("steer") ? (
                    <button type="button" class="quiet" onClick={() => replay([id])}>
                      Send again
                    </button>
                  ) : null}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {letters.length > 1 && may("steer") ? (
        <button type="button" onClick={() => replay()}>
          Send all again
        </button>
      ) : null}
      <p role="status">{printable(said.value)}</p>
    </section>
  );
}
