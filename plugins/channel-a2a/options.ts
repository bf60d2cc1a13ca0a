import { z } from "zod";

export const Options = z.strictObject({
  prefix: z
    .string()
    .regex(/^\/[\w/-]+$/)
    .default("/a2a")
    .describe("agents are at PREFIX/AGENT, their cards at PREFIX/AGENT/.well-known/agent-card.json"),
  url: z
    .url({ protocol: /^https?$/ })
    .exactOptional()
    .describe("public URL of the service, for cards; default: from the request for the card"),
  agent: z.string().exactOptional().describe("agent whose card is at /.well-known/agent-card.json"),
  agents: z.array(z.string()).exactOptional().describe("only these agents; default: all"),
  publicCards: z.boolean().default(false).describe("serve cards without a key"),
  provider: z
    .strictObject({ organization: z.string().min(1), url: z.url() })
    .exactOptional()
    .describe("provider information for cards"),
  signing: z
    .strictObject({
      key: z.string().min(1).meta({ secret: true }).describe("private key in PEM (PKCS #8) or as a JWK"),
      kid: z.string().min(1).describe("id of the key; the public key is at PREFIX/jwks.json"),
    })
    .exactOptional()
    .describe("signs cards, with ES256, RS256 or EdDSA by the kind of key"),
  webhook: z
    .string()
    .exactOptional()
    .describe("webhook of a channel `time` that delivers push notifications; it has `format: a2a` and `runs: notify`"),
});
export type Options = z.output<typeof Options>;
