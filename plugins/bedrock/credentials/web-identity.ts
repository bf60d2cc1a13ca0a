import { readFile } from "node:fs/promises";
import { messageOf } from "venturi/plugin";
import { type Keys, unusable } from "./keys.ts";

interface Role {
  readonly role: string;
  readonly file: string;
  readonly region: string;
  readonly session?: string;
}

const patience = 10_000;

/** Web identity from the environment, as set by Kubernetes (IRSA) and CI systems. */
export async function fromWebIdentity(region: string): Promise<Keys | undefined> {
  const { AWS_ROLE_ARN: role, AWS_WEB_IDENTITY_TOKEN_FILE: file, AWS_ROLE_SESSION_NAME: session } = process.env;
  if (!role || !file) return undefined;
  return assumeWithToken({ role, file, region, ...(session ? { session } : {}) });
}

/** Exchanges the token in a file (which is rotated while we run) for credentials at STS. */
export async function assumeWithToken({ role, file, region, session }: Role): Promise<Keys> {
  let token: string;
  try {
    token = (await readFile(file, "utf8")).trim();
  } catch (thrown) {
    throw unusable("the file with the token of the web identity cannot be read; the log says why", thrown);
  }
  const answer = await ask(endpointOf(region), {
    Action: "AssumeRoleWithWebIdentity",
    Version: "2011-06-15",
    RoleArn: role,
    RoleSessionName: session ?? `venturi-${process.pid}`,
    WebIdentityToken: token,
  });
  const [accessKeyId, secretAccessKey, sessionToken] = ["AccessKeyId", "SecretAccessKey", "SessionToken"].map((name) =>
    element(answer, name),
  );
  const expires = Date.parse(element(answer, "Expiration") ?? "");
  if (!accessKeyId || !secretAccessKey || !sessionToken || Number.isNaN(expires))
    throw unusable("the answer of STS has no credentials");
  return { accessKeyId, secretAccessKey, sessionToken, expires };
}

const endpointOf = (region: string): string =>
  process.env.AWS_ENDPOINT_URL_STS || `https://sts.${region}.amazonaws.com/`;

async function ask(url: string, parameters: Record<string, string>): Promise<string> {
  let response: Response;
  try {
    const body = new URLSearchParams(parameters);
    response = await fetch(url, { method: "POST", body, signal: AbortSignal.timeout(patience), redirect: "error" });
  } catch (thrown) {
    throw unusable(`STS could not be asked for credentials: ${messageOf(thrown)}`);
  }
  const text = (await response.text()).slice(0, 64 * 1024);
  if (response.ok) return text;
  throw unusable(`STS gives no credentials (${response.status} ${element(text, "Code") ?? ""})`.replace(" )", ")"));
}

/** The text of the first element of this name; STS nests and escapes none of those needed. */
function element(xml: string, name: string): string | undefined {
  const from = xml.indexOf(`<${name}>`);
  const end = xml.indexOf(`</${name}>`, from);
  return from < 0 || end < 0 ? undefined : xml.slice(from + name.length + 2, end).trim();
}
