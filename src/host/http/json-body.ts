import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { VenturiError } from "../../core/errors.ts";
import { parseUntrusted } from "../../core/untrusted-json.ts";
import { BodyBudget, type HeldBody } from "./body-budget.ts";
import { LongStrings } from "./long-strings.ts";
import type { ServiceLimits } from "./service-limits.ts";

/** Bodies up to this size are parsed in one piece, and count only while they arrive: the number of runs bounds them. */
const small = 64 * 1024;

/** Reads JSON bodies piece by piece, within a limit for each and a budget for all. */
export function readJsonBodies(app: FastifyInstance, limits: ServiceLimits): void {
  const budget = new BodyBudget(limits.bodies);
  const responses = new WeakMap<FastifyRequest, ServerResponse>();
  app.removeAllContentTypeParsers();
  app.addHook("preParsing", async (request, reply) => void responses.set(request, reply.raw));
  app.addContentTypeParser("application/json", async (request: FastifyRequest, payload: IncomingMessage) => {
    const announced = Number(request.headers["content-length"] ?? 0);
    const held = budget.hold();
    try {
      if (announced > limits.body) throw tooLarge();
      held.mustFit(announced);
      const body = await readJson(payload, { announced, held, limits });
      const response = responses.get(request);
      if (response === undefined || held.bytes <= small) held.release();
      else response.once("close", held.release); // the handler holds on to it until it has answered
      return body;
    } catch (thrown) {
      held.release();
      await discard(payload, limits.body);
      throw thrown;
    }
  });
}

async function readJson(
  payload: IncomingMessage,
  { announced, held, limits }: { announced: number; held: HeldBody; limits: ServiceLimits },
): Promise<unknown> {
  const bounds = { depth: limits.depth, size: limits.body };
  const strings = announced > 0 && announced <= small ? undefined : new LongStrings();
  const whole: Buffer[] = [];
  let size = 0;
  await eachChunk(payload, (chunk) => {
    size += chunk.length;
    if (size > limits.body) throw tooLarge();
    held.add(chunk.length);
    if (strings === undefined) whole.push(chunk);
    else strings.push(chunk);
  });
  if (strings === undefined) return parseUntrusted(Buffer.concat(whole).toString(), bounds);
  return strings.restore(parseUntrusted(strings.end(), bounds));
}

/** Reads the rest of a refused body: many clients send all of it before they look for an answer. */
async function discard(payload: IncomingMessage, most: number): Promise<void> {
  let left = most;
  await eachChunk(payload, (chunk) => {
    left -= chunk.length;
    if (left < 0) throw tooLarge();
  }).catch(() => {}); // enough, or the client is gone
}

/**
 * Rejects with what `take` throws, and leaves the rest unread. By events: an iterator costs more than all else that is done with
 * a small body.
 */
function eachChunk(payload: IncomingMessage, take: (chunk: Buffer) => void): Promise<void> {
  if (payload.readableEnded) return Promise.resolve();
  return new Promise((resolve, reject) => {
    // Without its listeners: the request lives as long as the answer, and would keep the body alive.
    const settle = (failed: boolean, thrown?: unknown): void => {
      payload.off("data", onData).off("end", onEnd).off("error", onError).off("close", onClose).pause();
      if (failed) reject(thrown);
      else resolve();
    };
    const onData = (chunk: Buffer): void => {
      try {
        take(chunk);
      } catch (thrown) {
        settle(true, thrown);
      }
    };
    const onEnd = (): void => settle(false);
    const onError = (thrown: unknown): void => settle(true, thrown);
    const onClose = (): void => settle(true, payload.errored ?? new Error("the client is gone"));
    if (payload.destroyed) onClose();
    else payload.on("data", onData).on("end", onEnd).on("error", onError).on("close", onClose).resume();
  });
}

const tooLarge = (): VenturiError =>
  new VenturiError("request.parse", "too_large", "the body is larger than limits.body allows");
