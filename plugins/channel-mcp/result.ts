import { type Gathered, gatheredIn, isCutShort, withCost } from "venturi/internal";
import type { Runs, TerminalEvent } from "venturi/plugin";
import type { Json } from "./rpc.ts";

/** Maximum total size of a result's images and files, bytes; the rest become links. */
const mostBytes = 8 * 1024 * 1024;

/** The result of a call: the run's answer, and images and files produced by its tools. */
export async function callResult(runs: Runs, last: TerminalEvent): Promise<Json> {
  const { run } = last;
  const meta = { "venturi/run": run, "venturi/usage": withCost(last.usage, last) };
  if (last.type === "run.failed") {
    const text = `${last.error.code}: ${last.error.err}`;
    return { content: [{ type: "text", text }], isError: true, _meta: meta };
  }
  const content: Json[] = last.output === "" ? [] : [{ type: "text", text: last.output }];
  content.push(...(await gatheredIn(runs, run, mostBytes)).map((found) => blockOf(run, found)));
  // A block of its own, because a model reads the content and not `_meta`.
  if (isCutShort(last.finish)) content.push({ type: "text", text: `The answer was cut short: ${last.finish}` });
  if (content.length === 0) content.push({ type: "text", text: "" });
  const object = last.object === undefined ? {} : { structuredContent: last.object };
  return { content, ...object, _meta: { ...meta, "venturi/finish": last.finish } };
}

function blockOf(run: string, { mediaType, name, hash, data }: Gathered): Json {
  const uri = `venturi://runs/${encodeURIComponent(run)}/files/${encodeURIComponent(name ?? hash ?? "file")}`;
  if (data === undefined) return { type: "resource_link", uri, name: name ?? "file", mimeType: mediaType };
  if (mediaType.startsWith("image/")) return { type: "image", data, mimeType: mediaType };
  if (mediaType.startsWith("audio/")) return { type: "audio", data, mimeType: mediaType };
  return { type: "resource", resource: { uri, mimeType: mediaType, blob: data } };
}
