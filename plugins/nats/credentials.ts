import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import type { Authenticator, NodeConnectionOptions } from "@nats-io/transport-node";
import { VenturiError } from "venturi/plugin";
import { z } from "zod";

export const Tls = z.strictObject({
  ca: z.string().optional().describe("File with the certificates to trust, relative to the config."),
  cert: z.string().optional().describe("File with the client's certificate."),
  key: z.string().optional().describe("File with the client's key."),
  servername: z.string().optional().describe("The name its certificate must have, if not the host."),
  verify: z.boolean().prefault(true).describe("False accepts any certificate: for tests only."),
  handshakeFirst: z
    .boolean()
    .prefault(false)
    .describe("Start TLS before the server's greeting; the server needs `handshake_first`."),
});

/** One login method; none if the server requires none. */
export const login = {
  user: z.string().optional().describe("User name."),
  password: z.string().optional().describe("The user's password."),
  token: z.string().optional().describe("Token, in place of a user."),
  creds: z.string().optional().describe("Credentials file (a user's JWT and seed), relative to the config."),
  nkey: z.string().optional().describe("File with an nkey's seed, relative to the config."),
};
const Login = z.object(login);
export type Login = z.output<typeof Login>;

export interface CredentialOptions extends Login {
  readonly servers: readonly string[];
  readonly tls?: boolean | z.output<typeof Tls> | undefined;
}

/** Files are read once, at startup: a bad file is a config error. */
export async function readCredentials(
  options: CredentialOptions,
  folder: string,
): Promise<Pick<NodeConnectionOptions, "authenticator" | "tls">> {
  const tls = await readTls(options, folder);
  const authenticator = await authenticatorOf(options, folder);
  return { ...(authenticator && { authenticator }), ...(tls !== undefined && { tls }) };
}

async function authenticatorOf(options: Login, folder: string): Promise<Authenticator | undefined> {
  const ways = (["user", "token", "creds", "nkey"] as const).filter((name) => options[name] !== undefined);
  if (ways.length > 1) throw invalid(`name one of journal.${ways.join(" and journal.")}, not several`);
  const nats = await import("@nats-io/transport-node");
  const { user, password, token, creds, nkey } = options;
  if (creds !== undefined) return nats.credsAuthenticator(await read("creds", creds, folder));
  if (nkey !== undefined) {
    const seed = (await read("nkey", nkey, folder)).toString("utf8").trim();
    return nats.nkeyAuthenticator(new TextEncoder().encode(seed));
  }
  if (token !== undefined) return nats.tokenAuthenticator(token);
  return user === undefined ? undefined : nats.usernamePasswordAuthenticator(user, password ?? "");
}

async function readTls({ tls, servers }: CredentialOptions, folder: string): Promise<NodeConnectionOptions["tls"]> {
  if (tls === undefined) return undefined;
  if (tls === false) return null; // Not even if the server offers it.
  const options = Tls.parse(tls === true ? {} : tls);
  const { verify, handshakeFirst, servername } = options;
  const files: Record<string, string> = {};
  for (const name of ["ca", "cert", "key"] as const) {
    const path = options[name];
    if (path !== undefined) files[name] = (await read(`tls.${name}`, path, folder)).toString("utf8");
  }
  const names = servername === undefined ? servers.map(hostOf) : [servername];
  const checked = {
    rejectUnauthorized: verify,
    checkServerIdentity: nameCheck(names),
    ...(servername && { servername }),
  };
  // nats.js passes all of them to `tls.connect`, although its type names only some.
  return { ...files, ...checked, handshakeFirst } as { handshakeFirst: boolean };
}

/** The host of `nats://user:password@host:4222`, `host:4222` or `[::1]:4222`. */
function hostOf(server: string): string {
  const url = URL.parse(server.includes("://") ? server : `nats://${server}`);
  return (url?.hostname ?? server).replace(/^\[|\]$/g, "");
}

/**
 * nats.js passes the host only if it is not an IP address, and Node then compares with `localhost`. The certificate must match
 * the requested host, or if that is unknown, one of those in the config.
 */
const nameCheck = (names: readonly string[]) => (host: string, certificate: PeerCertificate) => {
  const known = names.includes(host) ? [host] : names;
  const errors = known.map((name) => checkServerIdentity(name, certificate));
  return errors.includes(undefined) ? undefined : errors[0];
};

async function read(name: string, path: string, folder: string): Promise<Buffer> {
  try {
    return await readFile(resolve(folder, path));
  } catch (cause) {
    throw invalid(`the file named by journal.${name} cannot be read`, cause);
  }
}

const invalid = (message: string, cause?: unknown): VenturiError =>
  new VenturiError("journal.open", "config_invalid", message, { cause });
