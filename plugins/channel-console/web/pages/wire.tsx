import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { hexLines } from "../fold/hex.ts";
import { eventsOfDeltas } from "../fold/wire-events.ts";
import { bytesOfDelta } from "../fold/wire-marks.ts";
import { Empty } from "../parts/header.tsx";
import { Icon } from "../parts/icon.tsx";
import { stringify } from "../parts/json.tsx";
import type { RunEvent } from "../state/api-types.ts";
import type { LiveRun } from "../state/live.ts";
import { requestBytes } from "../state/request-bytes.ts";
import { type Resource, useResource } from "../state/resource.ts";
import { query, to } from "../state/router.ts";
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
  readonly chunks: readonly Chunk[];
  readonly quirks: Readonly<Record<string, number>>;
  readonly notes?: Readonly<Record<string, string>>;
  readonly cut: boolean;
}

interface Chunk {
  readonly offset: number;
  readonly text: string;
  readonly deltas: readonly unknown[];
}

const mostChunks = 1000;
const mostShown = 2000;
const pathOf = (run: string): string => `/v1/runs/${encodeURIComponent(run)}/wires`;

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

/** The events of one attempt. */
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

interface ChunksProps {
  readonly run: string;
  readonly kept: Kept;
  readonly form: "text" | "hex";
  readonly events: readonly RunEvent[];
  /** The event whose bytes are requested. */
  readonly wanted: number | undefined;
}

function Chunks({ run, kept, form, events, wanted }: ChunksProps): JSX.Element {
  const path = `${pathOf(run)}/${kept.round}/${kept.attempt}`;
  const { data, error, loading } = useResource(
    (signal) => client.value.request<Decoded>({ op: "run.wires", path, query: { decoded: 1 }, signal }),
    [path],
  );
  const raw: Resource<Uint8Array | undefined> = useResource(
    async () => (form === "hex" ? new Uint8Array(await requestBytes(path)) : undefined),
    [path, form],
  );
  if (data === undefined)
    return loading ? <div aria-busy="true" /> : <p class="problem bar">{printable(error?.message ?? "")}</p>;
  const shown = data.chunks.slice(0, mostChunks);
  const seqs = eventsOfDeltas(shown, events);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="scroll" tabIndex={0} aria-label="Bytes and deltas">
      <Quirks quirks={data.quirks} notes={data.notes ?? {}} />
      <table class={form === "hex" ? "chunks as-hex" : "chunks"}>
        <thead>
          <tr>
            <th class="num">byte</th>
            <th>as it arrived</th>
            <th>decoded to</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((chunk, index) => (
            <ChunkRow
              key={chunk.offset}
              chunk={chunk}
              run={run}
              seqs={chunk.deltas.map((_, delta) => seqs.get(`${index}.${delta}`))}
              wanted={wanted}
              bytes={
                form === "hex"
                  ? raw.data?.subarray(chunk.offset, data.chunks[index + 1]?.offset ?? data.size)
                  : undefined
              }
            />
          ))}
        </tbody>
      </table>
      {data.cut || data.chunks.length > mostChunks ? (
        <p class="faint center-line">The recording is longer; download it to see all.</p>
      ) : null}
    </section>
  );
}

function Quirks({
  quirks,
  notes,
}: {
  quirks: Decoded["quirks"];
  notes: Readonly<Record<string, string>>;
}): JSX.Element | null {
  const all = Object.entries(quirks);
  if (all.length === 0) return null;
  return (
    <div class="quirks">
      <p>
        <Icon name="info" size={14} /> Against the format's documentation, and tolerated:
      </p>
      <dl>
        {all.map(([name, times]) => (
          <div key={name}>
            <dt class="mono">
              {printable(name)}
              {times > 1 ? ` × ${times}` : ""}
            </dt>
            <dd>{printable(notes[name] ?? "")}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** Pointing at a delta marks its bytes, and pointing at bytes marks their deltas. */
interface ChunkProps {
  readonly run: string;
  readonly chunk: Chunk;
  readonly bytes: Uint8Array | undefined;
  /** The events made from its deltas. */
  readonly seqs: readonly (number | undefined)[];
  readonly wanted: number | undefined;
}

function ChunkRow({ chunk, bytes: raw, seqs, wanted, run }: ChunkProps): JSX.Element {
  const isWanted = wanted !== undefined && seqs.includes(wanted);
  const row = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    if (isWanted) row.current?.scrollIntoView({ block: "center" });
  }, [isWanted]);
  const pointed = useSignal<number | "bytes" | undefined>(undefined);
  const text = short(chunk.text.trimEnd(), mostShown);
  const at = pointed.value;
  const mark = useMemo(
    () => (typeof at === "number" ? bytesOfDelta(text, chunk.deltas[at]) : undefined),
    [at, text, chunk.deltas],
  );
  const leave = () => (pointed.value = undefined);
  return (
    <tr ref={row} class={isWanted ? "wanted" : ""}>
      <td class="num mono faint">{chunk.offset}</td>
      <td class={mark?.whole === true ? "lit" : ""} onMouseEnter={() => (pointed.value = "bytes")} onMouseLeave={leave}>
        {raw === undefined ? (
          <pre>
            {mark === undefined || mark.whole ? (
              printable(text)
            ) : (
              <>
                {printable(text.slice(0, mark.from))}
                <mark>{printable(text.slice(mark.from, mark.to))}</mark>
                {printable(text.slice(mark.to))}
              </>
            )}
          </pre>
        ) : (
          <pre class="hex">
            {hexLines(raw.subarray(0, mostShown), chunk.offset, innerWidth > 720 ? 16 : 8).map(
              ({ place, hex, text: letters }) => (
                <span key={place}>
                  <span class="faint">{place}</span> {hex} <span class="muted">{printable(letters)}</span>
                  {"\n"}
                </span>
              ),
            )}
          </pre>
        )}
      </td>
      <td class={at === "bytes" && chunk.deltas.length > 0 ? "lit" : ""}>
        {chunk.deltas.map((delta, index) => (
          <pre
            key={index}
            class={at === index ? "lit" : ""}
            onMouseEnter={() => (pointed.value = index)}
            onMouseLeave={leave}
          >
            {printable(short(stringify(delta, 0), mostShown))}
            {seqs[index] === undefined ? null : (
              <>
                {" "}
                <a class="in-text" href={eventAddress(run, seqs[index])}>
                  event {seqs[index]}
                </a>
              </>
            )}
          </pre>
        ))}
      </td>
    </tr>
  );
}

const eventAddress = (run: string, seq: number | undefined): string =>
  `${to("runs", run)}?view=events&select=${encodeURIComponent(`event ${seq}`)}`;

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
