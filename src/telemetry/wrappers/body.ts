import type { EventBody } from "../../core/run/events.ts";

/** An event of this type before the log assigns run, seq and time. */
export type Body<T extends EventBody["type"]> = Extract<EventBody, { type: T }>;
