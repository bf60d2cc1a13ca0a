import type { JsonPlace } from "../core/values/exact-json.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Where in the body values stand whose text counts: the arguments of a call that a client sends back as an object. */
    readonly exact?: JsonPlace;
  }
}

const kept = new WeakMap<object, ReadonlyMap<string, string>>();

/** For the reader of bodies: the texts at the place that the route names, by their path (`messages/0/content/1/input`). */
export function keepExactTexts(request: object, texts: ReadonlyMap<string, string>): void {
  if (texts.size > 0) kept.set(request, texts);
}

/** Takes the values at the route's `exact` place as the client wrote them: parsing makes other numbers of long ones. */
export function exactTexts(request: object): ReadonlyMap<string, string> {
  const texts = kept.get(request) ?? none;
  kept.delete(request); // the request lives as long as its answer
  return texts;
}

const none: ReadonlyMap<string, string> = new Map();
