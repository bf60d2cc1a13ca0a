import { notCounted } from "venturi/internal";
import { definePlugin, type GenerationRequest, type Wire } from "venturi/plugin";
import { asCount, asRecord, collectWith, httpOptions, httpProvider } from "venturi/plugin/provider";
import { z } from "zod";
import { Credentials } from "./credentials/credentials.ts";
import { withoutSlash } from "./credentials/keys.ts";
import { regionOf } from "./credentials/region.ts";
import { ConverseDecoder, wireName } from "./decoder.ts";
import { failureOf } from "./errors.ts";
import { bodyOf, countedBody, ignoredBy } from "./request.ts";
import { signed } from "./sign.ts";

const wire: Wire = { framing: "aws-event-stream", decoder: () => new ConverseDecoder() };

const options = z.strictObject({
  ...httpOptions,
  apiKey: httpOptions.apiKey.describe("A Bedrock API key, sent instead of a signature"),
  baseUrl: httpOptions.baseUrl.exactOptional().describe("Base URL of the API; default: Bedrock in the region"),
  region: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/, "use a region's name, such as eu-central-1")
    .exactOptional()
    .describe("Such as `eu-central-1`; default: AWS_REGION, AWS_DEFAULT_REGION or the profile's"),
  profile: z.string().min(1).exactOptional().describe("Profile in the shared AWS files; default: AWS_PROFILE"),
  credentials: z
    .strictObject({
      accessKeyId: z.string().min(1),
      secretAccessKey: z.string().min(1),
      sessionToken: z.string().min(1).exactOptional(),
    })
    .exactOptional()
    .describe("Credentials to sign with. Default: from the environment, the profile, a web identity or the machine"),
});

export default definePlugin({
  name: "bedrock",
  kind: "provider",
  description: "Models of Amazon Bedrock, over its Converse API",
  options,
  wires: { [wireName]: wire },
  async create(given) {
    const region = await regionOf(given);
    const baseUrl = given.baseUrl ?? `https://bedrock-runtime.${region}.amazonaws.com`;
    const apiKey = given.apiKey ?? (given.credentials === undefined ? process.env.AWS_BEARER_TOKEN_BEDROCK : undefined);
    const options = { ...given, baseUrl, ...(apiKey === undefined ? {} : { apiKey }) };
    const credentials = new Credentials({ ...given, region });
    const headers: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
    const urlOf = ({ model }: GenerationRequest, action: string) =>
      `${withoutSlash(baseUrl)}/model/${encodeURIComponent(model)}/${action}`;
    return httpProvider({
      name: "bedrock",
      capabilities: { streaming: true, tools: true, vision: true, reasoning: true, files: ["application/pdf"] },
      wire,
      wireName,
      options,
      request: (request, mode) => ({
        url: urlOf(request, mode === "stream" ? "converse-stream" : "converse"),
        headers,
        body: bodyOf(request),
      }),
      ...(apiKey === undefined && {
        sign: async (request) => signed(request, { ...(await credentials.get()), region }),
      }),
      collect: (json, text) => collectWith(new ConverseDecoder(), json, text),
      counting: {
        request: (request) => ({
          url: urlOf(request, "count-tokens"),
          headers,
          body: { input: { converse: countedBody(bodyOf(request)) } },
        }),
        read: (json) => asCount(asRecord(json).inputTokens) ?? notCounted(),
      },
      ignores: ignoredBy,
      failure: (failure) => failureOf(failure, () => credentials.forget()),
    });
  },
});
