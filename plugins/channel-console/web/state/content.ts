import type { Content } from "../fold/view.ts";
import { requestBytes } from "./request-bytes.ts";

/** The bytes of an image or file; undefined if it is elsewhere. */
export async function fetchContent(run: string, { data, hash }: Content): Promise<ArrayBuffer | undefined> {
  if (data !== undefined) {
    const text = atob(data);
    const bytes = new Uint8Array(text.length);
    for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
    return bytes.buffer;
  }
  if (hash === undefined) return undefined;
  return await requestBytes(`/v1/runs/${encodeURIComponent(run)}/content/${encodeURIComponent(hash)}`);
}
