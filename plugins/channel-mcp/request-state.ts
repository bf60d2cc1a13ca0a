import { createHash } from "node:crypto";
import { z } from "zod";
import { invalidParams } from "./rpc.ts";

/** Where a call continues: returned by clients with their answers, and by resuming readers. */
export interface Place {
  readonly run: string;
  /** Events after this one are new. */
  readonly seq: number;
  /** The agent, or the id of the request. */
  readonly of: string | number;
  /** The token of the request's progress notifications. */
  readonly progress?: string | number | undefined;
}

/** With a checksum, so that a damaged one is refused and not misread. What a caller may do depends only on its key. */
export function writePlace({ run, seq, of, progress }: Place): string {
  const text = JSON.stringify([run, seq, of, ...(progress === undefined ? [] : [progress])]);
  return Buffer.from(`${checksum(text)}${text}`).toString("base64url");
}

export function readPlace(written: unknown): Place {
  const text = typeof written === "string" ? Buffer.from(written, "base64url").toString() : "";
  const body = text.slice(checksumLength);
  const parsed = text.slice(0, checksumLength) === checksum(body) ? Written.safeParse(tryParse(body)) : undefined;
  if (parsed?.success !== true) throw invalidParams("the state was not issued here");
  const [run, seq, of, progress] = parsed.data;
  return { run, seq, of, progress };
}

const Id = z.union([z.string(), z.number()]);
const Written = z.tuple([z.string().min(1), z.number().int().nonnegative(), Id, Id.optional()]);

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const checksumLength = 16;
const checksum = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, checksumLength);
