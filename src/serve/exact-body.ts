import type { JsonPlace } from "../core/values/exact-json.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Where the body contains values whose exact text matters: call arguments that a client sends back as an object. */
    readonly exact?: JsonPlace;
  }
}

const kept = new WeakMap<object, ReadonlyMap<string, string>>();

/** Called by the body parser with the exact texts at the route's `exact` place, by path (`messages/0/content/1/input`). */
export function keepExactTexts(request: object, texts: ReadonlyMap<string, string>): void {
  if (texts.size > 0) kept.set(request, texts);
}

/** Takes the texts at the route's `exact` place as the client wrote them; parsing would change long numbers. */
export function exactTexts(request: object): ReadonlyMap<string, string> {
  const texts = kept.get(request) ?? none;
  kept.delete(request); // Freed now, because the request lives as long as its answer.
  return texts;
}

const none: ReadonlyMap<string, string> = new Map();
