import type { Runs } from "../core/ports/runs.ts";
import type { EventOf, RunEvent } from "../core/run/events.ts";
import { isMediaType } from "../core/values/media-type.ts";

/** An image or file produced by a tool of the run. */
export interface Gathered {
  readonly mediaType: string;
  readonly name?: string;
  readonly hash?: string;
  /** Base64; absent beyond the size limit. */
  readonly data?: string;
}

/** Images and files that the run's tools produced, each once, with data up to `mostBytes` in total. */
export async function gatheredIn(runs: Runs, run: string, mostBytes: number): Promise<Gathered[]> {
  const gathered = new Map<string, Gathered>();
  let after: number | undefined = 0;
  while (after !== undefined) {
    const page: { readonly events: readonly RunEvent[]; readonly next?: number } = await runs.events(run, {
      after,
      steps: true,
    });
    for (const event of page.events) {
      if (event.type !== "tool.finished") continue;
      for (const found of contentOf(event)) gathered.set(found.hash ?? found.data ?? "", found);
    }
    after = page.next;
  }
  const whole: Gathered[] = [];
  let bytes = 0;
  for (const { data: _, ...about } of gathered.values()) {
    const { hash } = about;
    const data = bytes > mostBytes ? undefined : (_ ?? (hash === undefined ? undefined : await read(runs, run, hash)));
    bytes += data?.length ?? 0;
    whole.push(data === undefined ? about : { ...about, data });
  }
  return whole;
}

const contentOf = ({ images = [], files = [] }: EventOf<"tool.finished">): Gathered[] =>
  [...images, ...files].filter(({ mediaType }) => isMediaType(mediaType));

const read = async (runs: Runs, run: string, hash: string): Promise<string> =>
  Buffer.from(await runs.content(run, hash)).toString("base64");
