/** The face for plugin authors: everything a plugin may import from Venturi. */
export type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
export * from "./core/channel.ts";
export * from "./core/clock.ts";
export * from "./core/codes.ts";
export * from "./core/deltas.ts";
export * from "./core/errors.ts";
export * from "./core/events.ts";
export * from "./core/hooks.ts";
export * from "./core/journal.ts";
export * from "./core/log.ts";
export * from "./core/messages.ts";
export * from "./core/plugin.ts";
export * from "./core/provider.ts";
export * from "./core/runs.ts";
export * from "./core/tool.ts";
export * from "./core/tool-options.ts";
export * from "./core/units.ts";
export * from "./core/usage.ts";
