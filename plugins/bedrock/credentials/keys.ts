import { VenturiError } from "venturi/plugin";

export interface Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** Expiry in milliseconds since 1970; absent: never. */
  readonly expires?: number;
}

export const unusable = (message: string, cause?: unknown): VenturiError =>
  new VenturiError("provider.credentials", "unauthorized", message, { cause });

export const withoutSlash = (url: string): string => (url.endsWith("/") ? url.slice(0, -1) : url);
