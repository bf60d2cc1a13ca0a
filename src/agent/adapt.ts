import type { Delta } from "../core/deltas.ts";
import { VenturiError } from "../core/errors.ts";
import type { Generation, GenerationContext, GenerationRequest, Provider } from "../core/provider.ts";

/** The provider's stream, or its whole answer as a stream of one: text, each tool call, usage, done. */
export function streamOf(
  provider: Provider,
  request: GenerationRequest,
  context: GenerationContext,
): AsyncIterable<readonly Delta[]> {
  if (provider.stream && provider.capabilities.streaming) return provider.stream(request, context);
  if (provider.generate) return wholeAsStream(provider.generate(request, context));
  if (provider.stream) return provider.stream(request, context);
  throw new VenturiError("provider.stream", "streaming_not_supported", "the provider can neither stream nor generate");
}

async function* wholeAsStream(generation: Promise<Generation>): AsyncIterable<readonly Delta[]> {
  yield deltasOf(await generation);
}

/** A whole generation, told as deltas. */
export function deltasOf(generation: Generation): Delta[] {
  const deltas: Delta[] = [];
  if (generation.id !== undefined || generation.model !== undefined) {
    deltas.push({
      type: "response",
      ...(generation.id === undefined ? {} : { id: generation.id }),
      ...(generation.model === undefined ? {} : { model: generation.model }),
    });
  }
  let index = 0;
  for (const part of generation.parts) {
    if (part.type === "text") deltas.push(part);
    else if (part.type === "reasoning") deltas.push({ ...part, part: deltas.length });
    else if (part.type === "opaque")
      deltas.push({ type: "activity", kind: "part", wire: part.wire, data: part.data, keep: true });
    else if (part.type === "tool_call") {
      deltas.push({
        type: "tool_call",
        index: index++,
        id: part.call,
        name: part.name,
        arguments: JSON.stringify(part.arguments),
        sealed: true,
        ...(part.signature === undefined ? {} : { signature: part.signature }),
      });
    }
  }
  deltas.push({ type: "usage", usage: generation.usage });
  deltas.push({
    type: "done",
    finish: generation.finish,
    ...(generation.raw === undefined ? {} : { raw: generation.raw }),
  });
  return deltas;
}

/** Says before a run starts what the provider cannot do for it. */
export function checkCapabilities(provider: Provider, name: string, needs: { tools: boolean; vision: boolean }): void {
  const op = "provider.check";
  const lacking = (what: string) =>
    new VenturiError(op, "streaming_not_supported", `${name} ${what}; choose another model for this agent`);
  if (!provider.stream && !provider.generate) throw lacking("can neither stream nor generate");
  if (needs.tools && !provider.capabilities.tools) throw lacking("cannot call tools");
  if (needs.vision && !provider.capabilities.vision) throw lacking("cannot see images");
}
