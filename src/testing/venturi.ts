import type { GenerationRequest } from "../core/model/provider.ts";
import { ProviderRegistry } from "../core/ports/registries.ts";
import { provide } from "../core/values/token.ts";
import { type App, openVenturi, type ToolContext, type Venturi } from "../index.ts";
import { type Generation, ScriptedModel } from "./model.ts";
import { silentToolContext } from "./tool-call.ts";

export interface TestVenturi extends Venturi {
  /** Requests to the model, generation by generation. */
  readonly requests: readonly GenerationRequest[];
  /** Throws unless every scripted generation was requested. */
  assertUsed(): void;
}

/** Placeholder keys that are never sent: every model is the scripted one. */
const keys = { ANTHROPIC_API_KEY: "scripted", OPENAI_API_KEY: "scripted", GEMINI_API_KEY: "scripted" };

/** `openVenturi` with a script in place of every model: your own agents and tools, and nothing leaves the process. */
export async function testVenturi({
  script,
  ...app
}: App & { readonly script: readonly Generation[] }): Promise<TestVenturi> {
  const model = new ScriptedModel(script);
  const registry = provide(ProviderRegistry, { names: () => [], get: () => model });
  const venturi = await openVenturi({
    ...app,
    env: { ...keys, ...(app.env ?? process.env) },
    replace: [...(app.replace ?? []), registry],
  });
  return { ...venturi, requests: model.requests, assertUsed: () => model.assertUsed() };
}

/** A context for calling a tool in a test: `await refund.call({ amount: 5 }, toolContext({ userId: "u1" }))`. */
export const toolContext = <Context>(
  context: Context,
  more: Partial<ToolContext<Context>> = {},
): ToolContext<Context> => ({
  ...silentToolContext(),
  ...more,
  context,
});
