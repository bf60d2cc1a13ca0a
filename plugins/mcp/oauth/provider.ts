import { randomBytes } from "node:crypto";
import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import type { OAuthOptions } from "./options.ts";
import type { Sealed } from "./sealed.ts";

/** Data stored for one user of one server. */
export interface Kept {
  readonly clients: Readonly<Record<string, StoredOAuthClientInformation>>;
  readonly tokens: StoredOAuthTokens;
  readonly discovery: OAuthDiscoveryState;
  readonly pending: Pending;
}

/** A sign-in in progress. */
export interface Pending {
  readonly url: string;
  readonly state: string;
  readonly verifier: string;
}

/** Stores one user's credentials for the MCP library, which implements OAuth. */
export class UserCredentials implements OAuthClientProvider {
  readonly #sealed: Sealed;
  readonly #name: string;
  readonly #options: OAuthOptions;
  declare clientMetadataUrl?: string;
  /** State of the sign-in that the library is about to begin. */
  #beginning: { state?: string; verifier?: string } = {};
  #lastRead: string | undefined;

  constructor(sealed: Sealed, name: string, options: OAuthOptions) {
    this.#sealed = sealed;
    this.#name = name;
    this.#options = options;
    if (options.clientMetadataUrl !== undefined) this.clientMetadataUrl = options.clientMetadataUrl;
  }

  get redirectUrl(): string | undefined {
    return this.#options.redirectUrl;
  }

  get clientMetadata(): OAuthClientMetadata {
    const { redirectUrl = "", scope, clientSecret } = this.#options;
    return {
      client_name: "Venturi",
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      ...(clientSecret === undefined ? {} : { token_endpoint_auth_method: "client_secret_basic" }),
      ...(scope === undefined ? {} : { scope }),
    };
  }

  state(): string {
    this.#beginning.state = randomBytes(32).toString("base64url");
    return this.#beginning.state;
  }

  saveCodeVerifier(verifier: string): void {
    this.#beginning.verifier = verifier;
  }

  async codeVerifier(): Promise<string> {
    return (await this.pending())?.verifier ?? "";
  }

  async redirectToAuthorization(url: URL): Promise<void> {
    const { state = url.searchParams.get("state") ?? "", verifier = "" } = this.#beginning;
    await this.#change((kept) => ({ ...kept, pending: { url: url.href, state, verifier } }));
  }

  async pending(): Promise<Pending | undefined> {
    return (await this.#read()).pending;
  }

  async forgetPending(): Promise<void> {
    await this.#change(({ pending: _, ...kept }) => kept);
  }

  async clientInformation({ issuer = "" } = {}): Promise<StoredOAuthClientInformation | undefined> {
    const { clientId, clientSecret } = this.#options;
    if (clientId === undefined) return (await this.#read()).clients?.[issuer];
    return {
      client_id: clientId,
      ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
      ...(this.#options.issuer === undefined ? {} : { issuer: this.#options.issuer }),
    };
  }

  async saveClientInformation(client: StoredOAuthClientInformation, { issuer = "" } = {}): Promise<void> {
    await this.#change((kept) => ({ ...kept, clients: { ...kept.clients, [issuer]: client } }));
  }

  /** Read each time: another replica may have renewed them, which invalidates the old ones. */
  async tokens(): Promise<StoredOAuthTokens | undefined> {
    const { tokens } = await this.#read();
    this.#lastRead = tokens?.access_token;
    return tokens;
  }

  async saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    await this.#change((kept) => ({ ...kept, tokens }));
  }

  async discoveryState(): Promise<OAuthDiscoveryState | undefined> {
    return (await this.#read()).discovery;
  }

  async saveDiscoveryState(discovery: OAuthDiscoveryState): Promise<void> {
    await this.#change((kept) => ({ ...kept, discovery }));
  }

  async invalidateCredentials(what: "all" | "client" | "tokens" | "verifier" | "discovery"): Promise<void> {
    const lastRead = this.#lastRead;
    await this.#change(({ clients, tokens, discovery, pending }) => {
      const all = what === "all";
      // Unless somebody else has renewed them meanwhile.
      const isSpent = tokens?.access_token === lastRead && (all || what === "tokens");
      return {
        ...(clients === undefined || all || what === "client" ? {} : { clients }),
        ...(tokens === undefined || isSpent ? {} : { tokens }),
        ...(discovery === undefined || all || what === "discovery" ? {} : { discovery }),
        ...(pending === undefined || all || what === "verifier" ? {} : { pending }),
      };
    });
  }

  #read(): Promise<Partial<Kept>> {
    return this.#sealed.read<Kept>(this.#name);
  }

  #change(change: (kept: Partial<Kept>) => Partial<Kept>): Promise<void> {
    return this.#sealed.change<Kept>(this.#name, change);
  }
}
