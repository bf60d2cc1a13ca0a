import { streamOf } from "../agent/run/capabilities.ts";
import { messageOf } from "../core/errors/errors.ts";
import { textMessage } from "../core/model/messages.ts";
import type { Provider } from "../core/model/provider.ts";
import type { Config } from "./config/load.ts";
import { splitModel } from "./config/references.ts";
import type { Finding } from "./doctor-processes.ts";

const patience = 20_000;

/** Asks each model that an agent uses for one word: only that reveals a wrong key, model, address or proxy. */
export async function* asked(config: Config, name: string, provider: Provider): AsyncGenerator<Finding> {
  for (const model of modelsOf(config, name)) {
    const what = `model ${name}/${model}`;
    const started = performance.now();
    const failure = await askOnce(provider, model).then(() => undefined, messageOf);
    const ms = Math.round(performance.now() - started);
    yield failure === undefined
      ? { what, status: "good", found: `answered in ${ms} ms` }
      : { what, status: "bad", found: failure };
  }
}

function modelsOf({ agents, models }: Config, name: string): Set<string> {
  const chainOf = (model: string) => models[model]?.chain ?? [model];
  const chains = Object.values(agents).flatMap(({ model }) => {
    const { split } = models[model] ?? {};
    return split === undefined ? chainOf(model) : Object.keys(split).flatMap(chainOf);
  });
  return new Set(chains.map(splitModel).flatMap(({ provider, model }) => (provider === name ? [model] : [])));
}

async function askOnce(provider: Provider, model: string): Promise<void> {
  const signal = AbortSignal.timeout(patience);
  const request = { model, messages: [textMessage("user", "Say ok.")], tools: [], options: { maxTokens: 16 } };
  const timeouts = { connect: 3_000, firstChunk: patience, idle: patience, total: patience };
  const context = { run: "doctor", round: 1, attempt: 1, agent: "doctor", signal, timeouts };
  for await (const _deltas of streamOf(provider, request, context));
}
