import { AwsV4Signer } from "aws4fetch";
import type { Keys } from "./credentials/keys.ts";

/** What one signature is made of. `service` and `datetime` are for AWS's published examples. */
interface Signing extends Keys {
  readonly region: string;
  readonly service?: string;
  readonly datetime?: string;
}

/** The headers of Signature Version 4. Only the host, the date and the token are signed: proxies may touch the others. */
export async function signed(
  { url, body }: { readonly url: string; readonly body: readonly Buffer[] },
  { accessKeyId, secretAccessKey, sessionToken, region, service = "bedrock", datetime }: Signing,
): Promise<Record<string, string>> {
  const signer = new AwsV4Signer({
    method: "POST",
    url,
    body: Buffer.concat(body),
    accessKeyId,
    secretAccessKey,
    region,
    service,
    ...(sessionToken === undefined ? {} : { sessionToken }),
    ...(datetime === undefined ? {} : { datetime }),
  });
  const { headers } = await signer.sign();
  return Object.fromEntries([...headers].filter(([name]) => name !== "host"));
}
