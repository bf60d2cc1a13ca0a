import { VenturiError } from "../../core/errors/errors.ts";
import type { Delta } from "../../core/model/deltas.ts";
import { isText } from "../../core/model/messages.ts";
import type {
  Capabilities,
  Generation,
  GenerationContext,
  GenerationRequest,
  Provider,
} from "../../core/model/provider.ts";
import { deltasOf } from "../../provider/deltas-of.ts";

/** The provider's stream, or its complete answer as a one-batch stream: text, tool calls, usage, done. */
export function streamOf(
  provider: Provider,
  request: GenerationRequest,
  context: GenerationContext,
): AsyncIterable<readonly Delta[]> {
  if (provider.stream && provider.capabilities.streaming) return provider.stream(request, context);
  if (provider.generate) return wholeAsStream(provider.generate.bind(provider, request, context));
  if (provider.stream) return provider.stream(request, context);
  throw new VenturiError("provider.stream", "streaming_not_supported", "the provider can neither stream nor generate");
}

/** Created lazily: an unread promise would cause an unhandledRejection. */
async function* wholeAsStream(generate: () => Promise<Generation>): AsyncIterable<readonly Delta[]> {
  yield deltasOf(await generate());
}

export interface Needs {
  readonly tools: boolean;
  readonly vision: boolean;
  /** Media types of files. */
  readonly files: readonly string[];
}

/** Rejects, before a run starts, what the provider cannot do for it. */
export function checkCapabilities(provider: Provider, name: string, needs: Needs): void {
  const lack = lackOf(provider, name, needs);
  if (lack !== undefined) throw lack;
}

/** The first required capability that the provider lacks. */
export function lackOf({ stream, generate, capabilities }: Provider, name: string, needs: Needs) {
  const lacking = (what: string) =>
    new VenturiError(
      "provider.check",
      "streaming_not_supported",
      `${name} ${what}; choose another model for this agent`,
    );
  if (!stream && !generate) return lacking("can neither stream nor generate");
  if (needs.tools && !capabilities.tools) return lacking("cannot call tools");
  if (needs.vision && !capabilities.vision) return lacking("cannot see images");
  const file = needs.files.find((each) => !takesFile(capabilities, each));
  return file === undefined ? undefined : lacking(`takes no ${file} files${taken(capabilities)}`);
}

/** Text files can be sent as text where files are not supported. */
export const takesFile = ({ files = [] }: Capabilities, mediaType: string): boolean =>
  isText(mediaType) ||
  files.some((type) => type === mediaType || (type.endsWith("*") && mediaType.startsWith(type.slice(0, -1))));

const taken = ({ files = [] }: Capabilities): string =>
  files.length === 0 ? "" : ` (only ${files.join(", ")} and text)`;
