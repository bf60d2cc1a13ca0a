import type { z } from "zod";
import { Message, Part } from "../../core/model/messages.ts";
import { Spent, Usage } from "../../core/model/usage.ts";
import { Digest } from "../../core/run/digest.ts";
import { ErrorBody, PendingCall, RunInput, Timing } from "../../core/run/event-fields.ts";
import { RunEvent } from "../../core/run/events.ts";
import { FeedItem } from "../../core/run/feed.ts";
import { ForkRequest } from "../../core/run/fork.ts";
import { named } from "../../core/values/schema-names.ts";

/** Names the schemas that clients in every language use. */
export function nameSchemas(): void {
  nameVariants("RunEvent", RunEvent, (type) => pascal(type));
  nameVariants("FeedItem", FeedItem, (type) => (type.startsWith("feed.") ? pascal(type) : `Feed${pascal(type)}`));
  nameVariants("Part", Part, (type) => `${pascal(type)}Part`);
  const rest = { Digest, ErrorBody, ForkRequest, Message, PendingCall, RunInput, Spent, Timing, Usage };
  for (const [name, schema] of Object.entries(rest)) named(name, schema);
}

/** Names a union by `type`, and each variant after its type. */
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
