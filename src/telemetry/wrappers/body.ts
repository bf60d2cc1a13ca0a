import type { EventBody } from "../../core/events.ts";

/** An event of this type before its log gives it a place. */
export type Body<T extends EventBody["type"]> = Extract<EventBody, { type: T }>;
