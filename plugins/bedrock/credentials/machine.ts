import { readFile } from "node:fs/promises";
import { asRecord, asText, parseJson } from "venturi/plugin/provider";
import { type Keys, unusable, withoutSlash } from "./keys.ts";

/** Short, because outside AWS nobody answers. */
const patience = 1_000;

/** Credentials of a container: ECS provides a path, EKS Pod Identity a URL and a token file. */
export async function fromContainer(): Promise<Keys | undefined> {
  const { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: path, AWS_CONTAINER_CREDENTIALS_FULL_URI: full } = process.env;
  const url = path ? `http://169.254.170.2${path}` : full;
  if (!url) return undefined;
  if (!isTrusted(url)) throw unusable("AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https nor of this machine");
  const { AWS_CONTAINER_AUTHORIZATION_TOKEN: token, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file } = process.env;
  const authorization = file ? (await readFile(file, "utf8")).trim() : token;
  const answer = await ask(url, { headers: authorization ? { authorization } : {} });
  if (answer === undefined) throw unusable("the container's credentials could not be fetched");
  return keysIn(answer);
}

/** As in the SDKs: a variable must not make us send a token unencrypted to another host. */
function isTrusted(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  const local = ["localhost", "127.0.0.1", "[::1]", "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"];
  return protocol === "https:" || local.includes(hostname);
}

/** Credentials of a virtual machine, with a session token (IMDSv2); undefined without such a service or role. */
export async function fromInstance(): Promise<Keys | undefined> {
  if (process.env.AWS_EC2_METADATA_DISABLED?.toLowerCase() === "true") return undefined;
  const base = withoutSlash(process.env.AWS_EC2_METADATA_SERVICE_ENDPOINT || "http://169.254.169.254");
  const lifetime = { "x-aws-ec2-metadata-token-ttl-seconds": "21600" };
  const token = await ask(`${base}/latest/api/token`, { method: "PUT", headers: lifetime });
  if (token === undefined) return undefined;
  const headers = { "x-aws-ec2-metadata-token": token };
  const roles = `${base}/latest/meta-data/iam/security-credentials/`;
  const [role] = ((await ask(roles, { headers })) ?? "").split("\n");
  if (!role) return undefined;
  const answer = await ask(`${roles}${encodeURIComponent(role.trim())}`, { headers });
  return answer === undefined ? undefined : keysIn(answer);
}

/** The body of a successful answer; undefined for any other. */
async function ask(url: string, init: RequestInit): Promise<string | undefined> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(patience), redirect: "error" });
    const text = await response.text();
    return response.ok ? text : undefined;
  } catch {
    return undefined;
  }
}

function keysIn(json: string): Keys {
  const { AccessKeyId, SecretAccessKey, Token, Expiration } = asRecord(parseJson(json));
  const [accessKeyId, secretAccessKey, sessionToken] = [AccessKeyId, SecretAccessKey, Token].map(asText);
  const expires = Date.parse(asText(Expiration) ?? "");
  if (!accessKeyId || !secretAccessKey) throw unusable("the machine's credentials have no keys in them");
  return {
    accessKeyId,
    secretAccessKey,
    ...(sessionToken ? { sessionToken } : {}),
    ...(Number.isNaN(expires) ? {} : { expires }),
  };
}
