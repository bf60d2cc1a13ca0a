import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { Empty } from "../parts/header.tsx";
import { Icon } from "../parts/icon.tsx";
import { stringify } from "../parts/json.tsx";
import type { LiveRun } from "../state/live.ts";
import { requestBytes } from "../state/request-bytes.ts";
import { useResource } from "../state/resource.ts";
import { client, may } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { bytes, short } from "../text/words.ts";

interface Kept {
  readonly round: number;
  readonly attempt: number;
  readonly wire: string;
  readonly size: number;
}

interface Decoded {
  readonly wire: string;
  readonly size: number;
  readonly chunks: readonly { readonly offset: number; readonly text: string; readonly deltas: readonly unknown[] }[];
  readonly quirks: Readonly<Record<string, number>>;
  readonly cut: boolean;
}

const pathOf = (run: string): string => `/v1/runs/${encodeURIComponent(run)}/wires`;

/** The provider's bytes beside what they were decoded to. */
export function WireView({ live }: { live: LiveRun }): JSX.Element {
  const { data, loading, error } = useResource(
    (signal) => client.value.request<{ wires: Kept[] }>({ op: "run.wires", path: pathOf(live.id), signal }),
    [live.id, live.whole.endedAt],
  );
  const chosen = useSignal(0);
  if (loading) return <div aria-busy="true" />;
  const wires = data?.wires ?? [];
  if (wires.length === 0) {
    return (
      <Empty title={may("inspect") ? "No bytes were kept of this run" : "Your key may not see the providers' bytes"}>
        <p class="muted">To keep what providers send, exactly as it arrives:</p>
        <pre class="raw">{"journal:\n  keepWire: true"}</pre>
        {error === undefined ? null : <p class="faint">{printable(error.message)}</p>}
      </Empty>
    );
  }
  const kept = wires[chosen.value] ?? wires[0];
  return (
    <div class="wire">
      <div class="filters">
        <select
          aria-label="Attempt"
          value={chosen.value}
          onChange={(event) => (chosen.value = Number(event.currentTarget.value))}
        >
          {wires.map(({ round, attempt, wire, size }, index) => (
            <option key={`${round} ${attempt}`} value={index}>
              Round {round}, attempt {attempt}: {wire}, {bytes(size)}
            </option>
          ))}
        </select>
        {kept === undefined ? null : (
          <button type="button" onClick={() => void download(live.id, kept)}>
            Download
          </button>
        )}
      </div>
      {kept === undefined ? null : <Chunks key={`${kept.round} ${kept.attempt}`} run={live.id} kept={kept} />}
    </div>
  );
}

function Chunks({ run, kept }: { run: string; kept: Kept }): JSX.Element {
  const path = `${pathOf(run)}/${kept.round}/${kept.attempt}`;
  const { data, error, loading } = useResource(
    (signal) => client.value.request<Decoded>({ op: "run.wires", path, query: { decoded: 1 }, signal }),
    [path],
  );
  if (data === undefined)
    return loading ? <div aria-busy="true" /> : <p class="problem bar">{printable(error?.message ?? "")}</p>;
  const quirks = Object.entries(data.quirks);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="scroll" tabIndex={0} aria-label="Bytes and deltas">
      {quirks.length === 0 ? null : (
        <p class="quirks">
          <Icon name="info" size={14} /> Tolerated:
          {quirks.map(([name, times]) => (
            <span key={name} class="chip">
              {printable(name)}
              {times > 1 ? ` × ${times}` : ""}
            </span>
          ))}
        </p>
      )}
      <table class="chunks">
        <thead>
          <tr>
            <th class="num">byte</th>
            <th>as it arrived</th>
            <th>decoded to</th>
          </tr>
        </thead>
        <tbody>
          {data.chunks.slice(0, 1000).map(({ offset, text, deltas }) => (
            <tr key={offset}>
              <td class="num mono faint">{offset}</td>
              <td>
                <pre>{printable(short(text.trimEnd(), 2000))}</pre>
              </td>
              <td>
                {deltas.map((delta, index) => (
                  <pre key={index}>{printable(short(stringify(delta, 0), 2000))}</pre>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {data.cut || data.chunks.length > 1000 ? (
        <p class="faint center-line">The recording is longer; download it to see all.</p>
      ) : null}
    </section>
  );
}

async function download(run: string, { round, attempt, wire }: Kept): Promise<void> {
  const data = await requestBytes(`${pathOf(run)}/${round}/${attempt}`);
  const url = URL.createObjectURL(new Blob([data], { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `${run}-${round}-${attempt}.${wire.replaceAll(/\W/g, "")}.bin`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
