import type { z } from "zod";
import { Digest } from "../../core/digest.ts";
import { ErrorBody, PendingCall, RunEvent, RunInput, Timing } from "../../core/events.ts";
import { FeedItem } from "../../core/feed.ts";
import { ForkRequest } from "../../core/fork.ts";
import { Message, Part } from "../../core/messages.ts";
import { named } from "../../core/schema-names.ts";
import { Spent, Usage } from "../../core/usage.ts";

/** Names what clients of every language deal with. */
export function nameSchemas(): void {
  nameVariants("RunEvent", RunEvent, (type) => pascal(type));
  nameVariants("FeedItem", FeedItem, (type) => (type.startsWith("feed.") ? pascal(type) : `Feed${pascal(type)}`));
  nameVariants("Part", Part, (type) => `${pascal(type)}Part`);
  const rest = { Digest, ErrorBody, ForkRequest, Message, PendingCall, RunInput, Spent, Timing, Usage };
  for (const [name, schema] of Object.entries(rest)) named(name, schema);
}

/** A union by `type`, and each of its variants by the name that its type gives it. */
function nameVariants(
  name: string,
  union: z.ZodDiscriminatedUnion<readonly z.ZodObject<{ type: z.ZodLiteral<string> }>[]>,
  nameOf: (type: string) => string,
): void {
  named(name, union);
  for (const variant of union.options) named(nameOf(variant.shape.type.value), variant);
}

const pascal = (type: string): string =>
  type
    .split(/[._]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
