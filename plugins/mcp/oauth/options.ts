import { z } from "zod";

export const OAuthOptions = z
  .strictObject({
    grant: z
      .enum(["code", "client"])
      .default("code")
      .describe("code: a person signs in and consents; client: the service itself has credentials"),
    per: z
      .enum(["caller", "tenant", "service"])
      .default("caller")
      .describe("whose sign-in counts: each caller's own, one for a tenant, one for all"),
    redirectUrl: z
      .url()
      .optional()
      .describe("where the authorization server sends the person back to: /mcp/callback of this service (channel mcp)"),
    secret: z.string().min(16).optional().describe("what tokens are enciphered with at rest; the same in all replicas"),
    clientId: z.string().optional().describe("of a client registered by hand; otherwise it registers itself"),
    clientSecret: z.string().optional(),
    clientMetadataUrl: z
      .url()
      .optional()
      .describe("address of a client id metadata document, where the server takes one"),
    privateKey: z.string().optional().describe("PEM key that the client signs assertions with, for grant: client"),
    algorithm: z.string().default("ES256").describe("of privateKey"),
    issuer: z.string().optional().describe("the only authorization server that clientId and its secret are sent to"),
    scope: z.string().optional(),
    hosts: z
      .array(z.string())
      .optional()
      .describe("hosts of authorization servers; any public one when absent, since the server names them"),
    allowPrivate: z.array(z.string()).default([]).describe("host:port pairs that may be at a private address"),
  })
  .superRefine((options, context) => {
    const missing = (name: string) =>
      context.addIssue({ code: "custom", path: [name], message: `grant: ${options.grant} needs it` });
    if (options.grant === "client") {
      if (options.clientId === undefined) missing("clientId");
      if (options.clientSecret === undefined && options.privateKey === undefined) missing("clientSecret");
      return;
    }
    if (options.redirectUrl === undefined) missing("redirectUrl");
    if (options.secret === undefined) missing("secret");
  });
export type OAuthOptions = z.output<typeof OAuthOptions>;
