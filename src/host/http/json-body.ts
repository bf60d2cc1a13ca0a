import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { VenturiError } from "../../core/errors/errors.ts";
import { parseUntrusted } from "../../core/errors/untrusted-json.ts";
import { type Account, type Charge, inputWeight } from "../../core/ports/held.ts";
import { tenantDoing } from "../../core/values/doing.ts";
import { textsAt } from "../../core/values/exact-json.ts";
import { inSlices, turnFor } from "../../core/values/in-slices.ts";
import { ArrivalRate, minimumRate } from "../../serve/arrival-rate.ts";
import { keepExactTexts } from "../../serve/exact-body.ts";
import { LongStrings } from "./long-strings.ts";
import type { ServiceLimits } from "./service-limits.ts";
import { Utf8Check } from "./utf8-check.ts";

/** Smaller bodies are parsed in one piece and may arrive as slowly as any request. */
const small = 64 * 1024;

export interface BodyDeps {
  readonly limits: ServiceLimits;
  /** The account that a request's body is charged to. */
  readonly account: (request: FastifyRequest) => Account;
}

/** Memory held by request bodies until they are answered. */
export interface Bodies {
  of(request: unknown): Charge | undefined;
}

/**
 * Reads bodies piece by piece, charging each to its caller at its announced size until it is answered: JSON, and raw bytes for routes that
 * accept forms or anything.
 */
export function readJsonBodies(app: FastifyInstance, { limits, account }: BodyDeps): Bodies {
  const { depth } = limits;
  const responses = new WeakMap<FastifyRequest, ServerResponse>();
  const charges = new WeakMap<object, Charge>();
  app.removeAllContentTypeParsers();
  app.addHook("preParsing", async (request, reply) => void responses.set(request, reply.raw));
  type Read = (payload: IncomingMessage, reading: Reading) => Promise<unknown>;
  const parser = (usual?: Read) => async (request: FastifyRequest, payload: IncomingMessage) => {
    const { bodyLimit: most = limits.body, config } = request.routeOptions;
    const announced = Number(request.headers["content-length"] ?? 0);
    const read = config.raw === true ? readBytes : usual;
    let charge: Charge | undefined;
    try {
      if (read === undefined) throw otherType(request.headers["content-type"]);
      if (announced > most) throw tooLarge();
      if (read === readBytes && config.form !== true && config.raw !== true) throw noForm();
      charge = account(request).charge(announced * inputWeight, "body");
      const { exact } = config;
      const taken = (text: string, strings?: LongStrings): void => {
        if (exact === undefined) return;
        const texts = textsAt(text, exact);
        if (strings !== undefined) for (const [path, piece] of texts) texts.set(path, strings.restoreText(piece));
        keepExactTexts(request, texts);
      };
      const body = await read(payload, {
        isSmall: announced > 0 && announced <= small,
        charge,
        most,
        depth,
        anyNumber: exact !== undefined,
        taken,
      });
      charges.set(request, charge);
      const response = responses.get(request);
      if (response === undefined || response.destroyed) charge.release();
      else response.once("close", () => charge?.release()); // The handler keeps the body until it has answered.
      return body;
    } catch (thrown) {
      charge?.release();
      if (VenturiError.isInstance(thrown) && thrown.code === "timeout")
        responses.get(request)?.setHeader("connection", "close");
      else await discard(payload, most);
      throw thrown;
    }
  };
  app.addContentTypeParser("application/json", parser(readJson));
  app.addContentTypeParser("multipart/form-data", parser(readBytes));
  app.addContentTypeParser("*", parser());
  return { of: (request) => charges.get(request as object) }; // A request, as channels hand it back.
}

interface Reading {
  /** It was announced as small. */
  readonly isSmall: boolean;
  readonly charge: Charge;
  readonly most: number;
  readonly depth: number;
  /** Numbers too large for JavaScript are kept as text. */
  readonly anyNumber: boolean;
  /** The body's text, once known to be valid JSON. */
  taken(text: string, strings?: LongStrings): void;
}

async function readJson(
  payload: IncomingMessage,
  { isSmall, charge, most, depth, anyNumber, taken }: Reading,
): Promise<unknown> {
  const strings = isSmall ? undefined : new LongStrings();
  const whole: Buffer[] = [];
  const utf8 = new Utf8Check();
  const tenant = tenantDoing(); // Chunks arrive in the connection's async context, so remember the tenant.
  let size = 0;
  const take = (chunk: Buffer) => {
    size += chunk.length;
    if (size > most) throw tooLarge();
    if (size * inputWeight > charge.bytes) charge.grow(size * inputWeight - charge.bytes);
    // Decoders would replace other bytes without a word.
    if (!utf8.take(chunk)) throw notUtf8();
    if (strings !== undefined) return inSlices(pushed(strings, chunk), tenant);
    whole.push(chunk);
    return undefined;
  };
  await eachChunk(payload, take, isSmall ? undefined : () => size);
  if (!utf8.isWhole) throw notUtf8();
  await strings?.flatten();
  const text = strings === undefined ? Buffer.concat(whole).toString() : strings.end();
  const parsed = parseUntrusted(text, { depth, size: most, anyNumber, shortened: strings !== undefined });
  taken(text, strings);
  if (strings === undefined) return parsed;
  const restored = strings.restore(parsed);
  // Validation and storing get a turn of their own.
  if (text.length > small) await turnFor(0, tenant);
  return restored;
}

function* pushed(strings: LongStrings, chunk: Buffer): Generator<void, void> {
  yield strings.push(chunk);
}

async function readBytes(payload: IncomingMessage, { isSmall, charge, most }: Reading): Promise<Buffer> {
  const whole: Buffer[] = [];
  let size = 0;
  const take = (chunk: Buffer) => {
    size += chunk.length;
    if (size > most) throw tooLarge();
    if (size * inputWeight > charge.bytes) charge.grow(size * inputWeight - charge.bytes);
    whole.push(chunk);
    return undefined;
  };
  await eachChunk(payload, take, isSmall ? undefined : () => size);
  return Buffer.concat(whole);
}

/** Reads and discards the rest of a refused body: many clients send everything before reading the response. */
async function discard(payload: IncomingMessage, most: number): Promise<void> {
  let left = most;
  await eachChunk(payload, (chunk) => {
    left -= chunk.length;
    if (left < 0) throw tooLarge();
    return undefined;
  }).catch(() => {}); // Enough was read, or the client is gone.
}

/**
 * Calls `take` for each chunk, pausing while it waits for the returned promise; rejects with what `take` throws, leaving the rest unread.
 * Uses events: an iterator would cost more than everything else for a small body. With `received`, a slow
 * sender is refused.
 */
function eachChunk(payload: IncomingMessage, take: Take, received?: () => number): Promise<void> {
  if (payload.readableEnded) return Promise.resolve();
  return new Promise((resolve, reject) => {
    let taking: Promise<void> | undefined;
    // Removes its listeners: the request lives as long as the answer and would keep the body in memory.
    const end = (failed: boolean, thrown?: unknown): void => {
      rate?.stop();
      payload.off("data", onData).off("end", onEnd).off("error", onClose).off("close", onClose).pause();
      if (failed) reject(thrown);
      else resolve();
    };
    const onData = (chunk: Buffer): void => {
      try {
        taking = take(chunk);
        if (taking === undefined) return;
        payload.pause();
        taking.then(
          () => payload.resume(),
          (thrown: unknown) => end(true, thrown),
        );
      } catch (thrown) {
        end(true, thrown);
      }
    };
    const onEnd = (): void => {
      if (taking === undefined) return end(false);
      // A stream may end and close while its last chunk is processed, even though it is paused.
      payload.off("close", onClose);
      taking.then(() => end(false), onError);
    };
    const onError = (thrown: unknown): void => end(true, thrown);
    const onClose = (): void => end(true, clientGone());
    // While the last chunk is processed, the sender cannot go on.
    const sent = () => (payload.isPaused() ? undefined : received?.());
    const rate = received && new ArrivalRate(sent, () => end(true, tooSlow()));
    if (payload.destroyed) onClose();
    else payload.on("data", onData).on("end", onEnd).on("error", onClose).on("close", onClose).resume();
  });
}

type Take = (chunk: Buffer) => Promise<void> | undefined;

const tooLarge = (): VenturiError =>
  new VenturiError("request.parse", "too_large", "the body is larger than limits.body allows");

const noForm = (): VenturiError =>
  new VenturiError("request.parse", "invalid_input", "this route takes no form; send application/json");

function otherType(sent: string | undefined): VenturiError {
  const as = sent === undefined ? "without a content type" : `as ${JSON.stringify(sent.slice(0, 100))}`;
  const curl = sent?.startsWith("application/x-www-form-urlencoded")
    ? '; with curl -d, add -H "content-type: application/json"'
    : "";
  const message = `the body came ${as}; send JSON with the header "content-type: application/json"${curl}`;
  return new VenturiError("request.parse", "invalid_input", message);
}

/** No fault of the service, so it is not logged as one. */
const clientGone = (): VenturiError =>
  new VenturiError("request.read", "stream_interrupted", "the connection ended before the body did");

const notUtf8 = (): VenturiError =>
  new VenturiError("request.parse", "invalid_input", "the body is not UTF-8; send it in that encoding");

const tooSlow = (): VenturiError => new VenturiError("request.read", "timeout", `a large body ${minimumRate}`);
