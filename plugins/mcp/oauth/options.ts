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
      .describe("who shares a sign-in: nobody (per caller), a tenant, or everyone"),
    redirectUrl: z
      .url()
      .optional()
      .describe("redirect URL for the authorization server: /mcp/callback of this service (channel mcp)"),
    secret: z.string().min(16).optional().describe("secret that encrypts stored tokens; the same on all replicas"),
    clientId: z.string().optional().describe("id of a manually registered client; default: registers itself"),
    clientSecret: z.string().optional(),
    clientMetadataUrl: z.url().optional().describe("URL of a client id metadata document, if the server supports it"),
    privateKey: z.string().optional().describe("PEM key that the client signs assertions with, for grant: client"),
    algorithm: z.string().default("ES256").describe("algorithm of privateKey"),
    issuer: z.string().optional().describe("the only authorization server that clientId and its secret are sent to"),
    scope: z.string().optional(),
    hosts: z
      .array(z.string())
      .optional()
      .describe("allowed hosts of authorization servers; default: any public one, since the server names them"),
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
