import { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Account } from "../../core/ports/held.ts";
import { StallWatch } from "../../serve/stall-watch.ts";
import type { ServiceLimits } from "./service-limits.ts";

/** Smaller replies go out in one write: the kernel takes most of one. */
const large = 64 * 1024;

/** A reply that is read while it is sent: a piece of the journal's, and what waits for the reader. */
const streamed = 1.25 * 1024 * 1024;

export interface ReplyParts {
  readonly limits: Pick<ServiceLimits, "stalled">;
  /** What a request's reply is charged to. */
  readonly account: (request: FastifyRequest) => Account;
}

/**
 * Sends replies above 64 KiB piece by piece, charged to their caller until they are sent, streams with what they hold meanwhile. A reader that takes nothing for
 * `stalled` ms is cut off. Server-sent events have a writer of their own, with the same bounds.
 */
export function sendLargeReplies(app: FastifyInstance, { limits, account }: ReplyParts): void {
  app.addHook("onSend", async (request, reply, payload) => {
    const isStream = payload instanceof Readable;
    if (!isStream && typeof payload !== "string" && !Buffer.isBuffer(payload)) return payload;
    if (!isStream && payload.length < large) return payload;
    const bytes = isStream ? streamed : Buffer.byteLength(payload);
    const charge = account(request).charge(bytes, "reply");
    const { raw } = reply;
    if (raw.destroyed) {
      charge.release();
      return payload;
    }
    const stall = new StallWatch(request.raw.socket, limits.stalled, () => raw.destroy());
    raw.once("close", () => {
      stall.stop();
      charge.release();
    });
    if (isStream) return payload;
    reply.header("content-length", bytes);
    return inPieces(typeof payload === "string" ? Buffer.from(payload) : payload);
  });
}

function inPieces(bytes: Buffer): Readable {
  let at = 0;
  return new Readable({
    highWaterMark: large,
    read() {
      const piece = bytes.subarray(at, at + large);
      at += large;
      this.push(piece.length === 0 ? null : piece);
    },
  });
}
