import { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Account, Charge } from "../../core/ports/held.ts";
import { StallWatch } from "../../serve/stall-watch.ts";
import type { ServiceLimits } from "./service-limits.ts";

/** Smaller replies go out in one write; the kernel buffers most of it. */
const large = 64 * 1024;

/** Memory charged for a streamed reply: one piece read from the journal, plus what waits for the reader. */
const streamed = 1.25 * 1024 * 1024;

export interface ReplyDeps {
  readonly limits: Pick<ServiceLimits, "stalled">;
  /** The account that a request's reply is charged to. */
  readonly account: (request: FastifyRequest) => Account;
}

/**
 * Sends replies above 64 KiB piece by piece, charged to their caller until sent; streams are charged for what they buffer. A reader that
 * takes nothing for `stalled` ms is disconnected. Server-sent events have their own writer with the same bounds.
 */
export function sendLargeReplies(app: FastifyInstance, { limits, account }: ReplyDeps): void {
  app.addHook("onSend", async (request, reply, payload) => {
    const isStream = payload instanceof Readable;
    if (!isStream && typeof payload !== "string" && !Buffer.isBuffer(payload)) return payload;
    if (!isStream && payload.length < large) return payload;
    const bytes = isStream ? streamed : Buffer.byteLength(payload);
    const charge = chargeFor(account(request), { payload, bytes });
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

/** A stream that is refused is closed: nobody else would. */
function chargeFor(account: Account, { payload, bytes }: { payload: unknown; bytes: number }): Charge {
  try {
    return account.charge(bytes, "reply");
  } catch (thrown) {
    if (payload instanceof Readable) payload.destroy();
    throw thrown;
  }
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
