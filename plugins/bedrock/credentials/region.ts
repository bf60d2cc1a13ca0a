import { VenturiError } from "venturi/plugin";
import { readProfile } from "./shared-files.ts";

interface Given {
  readonly region?: string;
  readonly profile?: string;
  readonly baseUrl?: string;
}

/** The region to sign for; also read from Bedrock's own address. */
export async function regionOf({ region, profile, baseUrl }: Given): Promise<string> {
  const named = region ?? process.env.AWS_REGION ?? process.env.AWS_DEFAULT_REGION ?? inAddress(baseUrl);
  if (named) return named;
  const found = (await readProfile(profile ?? process.env.AWS_PROFILE ?? "default"))?.region;
  if (found) return found;
  if (baseUrl !== undefined) return "us-east-1"; // A gateway, which checks no signature or a different one.
  throw new VenturiError("provider.create", "config_invalid", "bedrock needs a region: set `region` or AWS_REGION");
}

function inAddress(baseUrl: string | undefined): string | undefined {
  const [service, region, ...rest] = baseUrl === undefined ? [] : new URL(baseUrl).hostname.split(".");
  const own = service?.startsWith("bedrock-runtime") && rest.join(".").startsWith("amazonaws.com");
  return own ? region : undefined;
}
