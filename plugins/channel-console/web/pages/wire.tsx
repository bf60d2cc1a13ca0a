import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { Empty } from "../components/header.tsx";
import { Chunks, type Kept, pathOf } from "../components/wire-chunks.tsx";
import type { RunEvent } from "../state/api-types.ts";
import type { LiveRun } from "../state/live.ts";
import { requestBytes } from "../state/request-bytes.ts";
import { useResource } from "../state/resource.ts";
import { query } from "../state/router.ts";
import { client, may } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { bytes } from "../text/words.ts";

/** The provider's bytes next to the deltas decoded from them. */
export function WireView({ live }: { live: LiveRun }): JSX.Element {
  const { data, loading, error } = useResource(
    (signal) => client.value.request<{ wires: Kept[] }>({ op: "run.wires", path: pathOf(live.id), signal }),
    [live.id, live.whole.endedAt],
  );
  const wanted = live.events[Number(query.value.get("event") ?? 0) - 1];
  const chosen = useSignal<number | undefined>(undefined);
  const form = useSignal<"text" | "hex">("text");
  if (loading) return <div aria-busy="true" />;
  const wires = data?.wires ?? [];
  if (wires.length === 0) {
    return (
      <Empty title={may("inspect") ? "No bytes were kept of this run" : "Your key may not see the providers' bytes"}>
        <p class="muted">
          To keep what providers send, exactly as it arrives; <code>asked</code> keeps that of runs with{" "}
          <code>keepWire: true</code> in their metadata:
        </p>
        <pre class="raw">{"journal:\n  keepWire: true # or asked"}</pre>
        {error === undefined ? null : <p class="faint">{printable(error.message)}</p>}
        <FixtureButton live={live} />
      </Empty>
    );
  }
  const ofEvent = wanted === undefined ? -1 : wires.findIndex((wire) => attemptEvents(live, wire).includes(wanted));
  const place = chosen.value ?? Math.max(0, ofEvent);
  const kept = wires[place] ?? wires[0];
  return (
    <div class="wire">
      <div class="filters">
        <select
          aria-label="Attempt"
          value={place}
          onChange={(event) => (chosen.value = Number(event.currentTarget.value))}
        >
          {wires.map(({ round, attempt, wire, size }, index) => (
            <option key={`${round} ${attempt}`} value={index}>
              Round {round}, attempt {attempt}: {wire}, {bytes(size)}
            </option>
          ))}
        </select>
        <fieldset class="segmented" aria-label="Form">
          {(["text", "hex"] as const).map((each) => (
            <button key={each} type="button" aria-pressed={form.value === each} onClick={() => (form.value = each)}>
              {each === "text" ? "Text" : "Hex"}
            </button>
          ))}
        </fieldset>
        <span class="spacer" />
        {kept === undefined ? null : (
          <button type="button" onClick={() => void downloadWire(live.id, kept)}>
            Download
          </button>
        )}
        <FixtureButton live={live} />
      </div>
      {kept === undefined ? null : (
        <Chunks
          key={`${kept.round} ${kept.attempt}`}
          run={live.id}
          kept={kept}
          form={form.value}
          events={attemptEvents(live, kept)}
          wanted={wanted?.seq}
        />
      )}
    </div>
  );
}

function attemptEvents({ events }: LiveRun, { round, attempt }: Kept): readonly RunEvent[] {
  const from = events.findIndex(
    (event) => event.type === "round.started" && event.round === round && event.attempt === attempt,
  );
  if (from < 0) return [];
  const to = events.findIndex((event, index) => index > from && event.type === "round.started");
  return events.slice(from + 1, to < 0 ? undefined : to);
}

function FixtureButton({ live }: { live: LiveRun }): JSX.Element {
  const make = async () => {
    const path = `/v1/runs/${encodeURIComponent(live.id)}/fixture`;
    save(await requestBytes(path), `${live.id}.yaml`);
  };
  return (
    <button
      type="button"
      title="A scenario of the simulator that answers as this run's model did, for tests"
      onClick={() => void make()}
    >
      Make a fixture
    </button>
  );
}

async function downloadWire(run: string, { round, attempt, wire }: Kept): Promise<void> {
  const data = await requestBytes(`${pathOf(run)}/${round}/${attempt}`);
  save(data, `${run}-${round}-${attempt}.${wire.replaceAll(/\W/g, "")}.bin`);
}

function save(data: ArrayBuffer, name: string): void {
  const url = URL.createObjectURL(new Blob([data], { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
