import { z } from "zod";
import { Size } from "../../core/values/units.ts";

/** Options of every HTTP provider; spread into the plugin's `z.strictObject`. */
export const httpOptions = {
  apiKey: z.string().min(1).exactOptional().describe("API key; best taken from the environment or a file"),
  baseUrl: z.url({ protocol: /^https?$/ }).describe("Base URL of the API, without a trailing slash"),
  headers: z.record(z.string(), z.string()).exactOptional().describe("Headers sent with every request"),
  proxy: z
    .url({ protocol: /^https?$/ })
    .exactOptional()
    .describe("Proxy to use; environment variables are ignored"),
  maxEvent: Size.exactOptional().describe("Maximum size of a single stream event (default 16MiB)"),
  stream: z.boolean().exactOptional().describe("false: request complete answers instead of streams"),
};

export interface HttpOptions {
  readonly apiKey?: string;
  readonly baseUrl: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly proxy?: string;
  readonly maxEvent?: number;
  readonly stream?: boolean;
}
