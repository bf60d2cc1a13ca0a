import type { OAuthClientProvider } from "@modelcontextprotocol/client";
import type { McpOptions } from "../options.ts";

/** The service's own credentials, if configured. */
export async function clientCredentials({ auth }: McpOptions): Promise<OAuthClientProvider | undefined> {
  if (auth?.grant !== "client") return undefined;
  const { ClientCredentialsProvider, PrivateKeyJwtProvider } = await import("@modelcontextprotocol/client");
  const { clientId = "", clientSecret = "", privateKey, algorithm, scope, issuer } = auth;
  const shared = {
    clientId,
    clientName: "Venturi",
    ...(scope === undefined ? {} : { scope }),
    ...(issuer === undefined ? {} : { expectedIssuer: issuer }),
  };
  return privateKey === undefined
    ? new ClientCredentialsProvider({ ...shared, clientSecret })
    : new PrivateKeyJwtProvider({ ...shared, privateKey, algorithm });
}
