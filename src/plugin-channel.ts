/** `venturi/plugin/channel`: what a channel needs beyond `venturi/plugin`. Its types need `fastify` to be installed. */
export type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
export { nativeOf } from "./core/model/native.ts";
export { unlimited } from "./core/ports/held.ts";
export { RunInput } from "./core/run/event-fields.ts";
export { parseDataUrl } from "./core/values/data-url.ts";
export { channelOptions } from "./serve/channel-options.ts";
export { httpError } from "./serve/http-error.ts";
export { Paragraphs } from "./serve/paragraphs.ts";
export { Sentences } from "./serve/sentences.ts";
export { awaitRun, startRun, streamRun } from "./serve/serve-run.ts";
export { dataFrame, eventFrame, heartbeatFrame, SseWriter } from "./serve/sse-writer.ts";
export { durationOf } from "./serve/voice.ts";
