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

/** Where keys are looked for; undefined when there is nothing there. Throws when there is something that does not work. */
type Source = (wanted: Wanted) => Promise<Keys | undefined> | Keys | undefined;

/** Credentials are renewed this long before they end. */
const early = 5 * 60_000;

/** Keys to sign with, in AWS's usual order. Kept until shortly before they end; asked for once, however many wait. */
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
      // A service of keys that is down for a moment must not fail requests that the old ones could still sign.
      if (kept?.expires !== undefined && kept.expires > Date.now()) return kept;
      throw thrown;
    }
  }

  /** The vendor says that they have ended. */
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
  // A profile that was named wins over keys that happen to be set.
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
