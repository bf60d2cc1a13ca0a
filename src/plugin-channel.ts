/** `venturi/plugin/channel`: what a channel needs beyond `venturi/plugin`. Its types need `fastify` to be installed. */
export type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
