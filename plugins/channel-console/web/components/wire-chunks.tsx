import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { hexLines } from "../fold/hex.ts";
import { eventsOfDeltas } from "../fold/wire-events.ts";
import { bytesOfDelta } from "../fold/wire-marks.ts";
import type { RunEvent } from "../state/api-types.ts";
import { requestBytes } from "../state/request-bytes.ts";
import { type Resource, useResource } from "../state/resource.ts";
import { to } from "../state/router.ts";
import { client } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { short } from "../text/words.ts";
import { Icon } from "./icon.tsx";
import { stringify } from "./json.tsx";

/** A recorded answer of a provider. */
export interface Kept {
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
export const pathOf = (run: string): string => `/v1/runs/${encodeURIComponent(run)}/wires`;

interface ChunksProps {
  readonly run: string;
  readonly kept: Kept;
  readonly form: "text" | "hex";
  readonly events: readonly RunEvent[];
  /** The event whose bytes are requested. */
  readonly wanted: number | undefined;
}

/** Each chunk of an answer next to its deltas. */
export function Chunks({ run, kept, form, events, wanted }: ChunksProps): JSX.Element {
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
