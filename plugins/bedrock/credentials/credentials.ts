import { fromEnvironment } from "./environment.ts";
import { type Keys, unusable } from "./keys.ts";
import { fromContainer, fromInstance } from "./machine.ts";
import { readProfile } from "./shared-files.ts";
import { assumeWithToken, fromWebIdentity } from "./web-identity.ts";

export interface Wanted {
  readonly credentials?: Keys;
  readonly profile?: string;
  readonly region: string;
}

/** A place to look for credentials; undefined if there are none. Throws if there are some that do not work. */
type Source = (wanted: Wanted) => Promise<Keys | undefined> | Keys | undefined;

/** Credentials are renewed this long before they expire. */
const early = 5 * 60_000;

/**
 * Credentials to sign with, looked up in AWS's usual order. Cached until shortly before they expire; concurrent requests share one lookup.
 */
export class Credentials {
  readonly #wanted: Wanted;
  #kept: Keys | undefined;
  #pending: Promise<Keys> | undefined;

  constructor(wanted: Wanted) {
    this.#wanted = wanted;
  }

  async get(): Promise<Keys> {
    const kept = this.#kept;
    if (kept !== undefined && (kept.expires === undefined || kept.expires - early > Date.now())) return kept;
    this.#pending ??= this.#find().finally(() => {
      this.#pending = undefined;
    });
    try {
      return await this.#pending;
    } catch (thrown) {
      // A short outage of the credentials service must not fail requests that the old credentials can still sign.
      if (kept?.expires !== undefined && kept.expires > Date.now()) return kept;
      throw thrown;
    }
  }

  /** The vendor reports that the credentials have expired. */
  forget(): void {
    this.#kept = undefined;
  }

  async #find(): Promise<Keys> {
    for (const source of sources) {
      const found = await source(this.#wanted);
      if (found === undefined) continue;
      this.#kept = found;
      return found;
    }
    throw unusable(
      "there are no AWS credentials: none in the options, the environment, the profile, a web identity or the machine; set `credentials` or `apiKey`, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    );
  }
}

const sources: readonly Source[] = [
  ({ credentials }) => credentials,
  // An explicitly named profile takes precedence over keys in the environment.
  ({ profile }) => (profile === undefined ? fromEnvironment() : undefined),
  fromProfile,
  ({ region }) => fromWebIdentity(region),
  () => fromContainer(),
  () => fromInstance(),
];

async function fromProfile({ profile, region }: Wanted): Promise<Keys | undefined> {
  const named = profile ?? process.env.AWS_PROFILE;
  const found = await readProfile(named ?? "default");
  if (found === undefined) {
    if (named === undefined) return undefined;
    throw unusable(`there is no profile "${named}" in the shared files`);
  }
  const { aws_access_key_id: id, aws_secret_access_key: secret, aws_session_token: token } = found;
  if (id !== undefined && secret !== undefined)
    return { accessKeyId: id, secretAccessKey: secret, ...(token === undefined ? {} : { sessionToken: token }) };
  const { role_arn: role, web_identity_token_file: file, role_session_name: session } = found;
  if (role !== undefined && file !== undefined)
    return assumeWithToken({ role, file, region, ...(session === undefined ? {} : { session }) });
  if (named === undefined) return undefined;
  throw unusable(`the profile "${named}" has no keys and no web identity; other kinds of profile are not supported`);
}
