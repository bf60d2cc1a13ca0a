import { isMediaType } from "venturi/internal";
import type { EventOf, RunEvent, Runs, TerminalEvent } from "venturi/plugin";
import type { Json } from "./rpc.ts";

type Found = { readonly mediaType: string; readonly data?: string; readonly hash?: string; readonly name?: string };

/** All of a result's images and files together, bytes; beyond it they are links. */
const mostBytes = 8 * 1024 * 1024;

/** The result of a call: the run's answer, and the images and files that its tools gave. */
export async function callResult(runs: Runs, last: TerminalEvent): Promise<Json> {
  const { run } = last;
  const meta = { "venturi/run": run, "venturi/usage": last.usage };
  if (last.type === "run.failed") {
    const text = `${last.error.code}: ${last.error.err}`;
    return { content: [{ type: "text", text }], isError: true, _meta: meta };
  }
  const content: Json[] = last.output === "" ? [] : [{ type: "text", text: last.output }];
  let bytes = 0;
  for (const found of await gatheredOf(runs, run)) {
    const data = bytes > mostBytes ? undefined : await base64Of(runs, run, found);
    bytes += data?.length ?? 0;
    content.push(blockOf(run, found, data));
  }
  if (content.length === 0) content.push({ type: "text", text: "" });
  const object = last.object === undefined ? {} : { structuredContent: last.object };
  return { content, ...object, _meta: meta };
}

/** Each once, however often it was shown to the model. */
async function gatheredOf(runs: Runs, run: string): Promise<Iterable<Found>> {
  const gathered = new Map<string, Found>();
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
  return gathered.values();
}

const contentOf = ({ images = [], files = [] }: EventOf<"tool.finished">): Found[] =>
  [...images, ...files].filter(({ mediaType }) => isMediaType(mediaType)) as Found[];

async function base64Of(runs: Runs, run: string, { data, hash }: Found): Promise<string | undefined> {
  if (data !== undefined) return data;
  if (hash === undefined) return undefined;
  return Buffer.from(await runs.content(run, hash)).toString("base64");
}

function blockOf(run: string, { mediaType, name, hash }: Found, data: string | undefined): Json {
  const uri = `venturi://runs/${encodeURIComponent(run)}/files/${encodeURIComponent(name ?? hash ?? "file")}`;
  if (data === undefined) return { type: "resource_link", uri, name: name ?? "file", mimeType: mediaType };
  if (mediaType.startsWith("image/")) return { type: "image", data, mimeType: mediaType };
  if (mediaType.startsWith("audio/")) return { type: "audio", data, mimeType: mediaType };
  return { type: "resource", resource: { uri, mimeType: mediaType, blob: data } };
}
