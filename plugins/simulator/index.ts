import { resolve } from "node:path";
import { withoutGenerations } from "venturi/internal";
import {
  type AnyPlugin,
  definePlugin,
  type Instance,
  messageOf,
  type OptionProblem,
  type PluginContext,
  type Provider,
  VenturiError,
} from "venturi/plugin";
import { z } from "zod";
import { Faults, Scenario } from "./scenario.ts";
import { readScenarios } from "./scenario-files.ts";
import { wireNames } from "./wire.ts";

const options = z.strictObject({
  wire: z.enum(wireNames).default("openai").describe("Wire format to use."),
  seed: z.int().default(1).describe("Same seed, same requests, same bytes."),
  pace: z.number().min(0).default(15).describe("Milliseconds between words."),
  port: z.int().min(0).max(65535).default(0).describe("Loopback port; 0 takes a free one."),
  faults: Faults.default("").describe('Faults to inject into every request, such as "rate-limit=50~0.2".'),
  scenarios: z
    .array(z.union([z.string(), Scenario]))
    .default([])
    .describe("Scenario files, relative to the config file, or scenarios themselves."),
});
type Options = z.output<typeof options>;

/** An in-process model server, and the wire's real provider pointed at it: tokens travel over real HTTP. */
export default definePlugin({
  name: "simulator",
  kind: "provider",
  description: "A deterministic model that needs no key, behind a real wire",
  options,
  check: ({ scenarios }, { folder }) => checkScenarios(scenarios, folder),
  create,
});

async function checkScenarios(scenarios: Options["scenarios"], folder: string): Promise<OptionProblem[]> {
  const problems: OptionProblem[] = [];
  for (const [index, entry] of scenarios.entries()) {
    if (typeof entry !== "string") continue;
    await readScenarios([resolve(folder, entry)]).catch((thrown) => {
      problems.push({ path: ["scenarios", index], message: messageOf(thrown) });
    });
  }
  return problems;
}

async function create({ wire, ...settings }: Options, context: PluginContext): Promise<Instance<Provider>> {
  const { startSimulator } = await import("./server.ts");
  const scenarios = settings.scenarios.map((entry) =>
    typeof entry === "string" ? resolve(context.folder, entry) : entry,
  );
  const simulator = await startSimulator({ ...settings, scenarios, keep: 0 });
  try {
    const provider = await providerOf(await context.plugin(wire), simulator.url + bases[wire], context);
    return {
      ...withoutGenerations(provider),
      ...(provider.stream === undefined ? {} : { stream: provider.stream.bind(provider) }),
      ...(provider.generate === undefined ? {} : { generate: provider.generate.bind(provider) }),
      async close() {
        await provider.close?.();
        await simulator.close();
      },
    };
  } catch (thrown) {
    await simulator.close();
    throw thrown;
  }
}

/** Base paths that each wire's provider appends its own to. */
const bases: Readonly<Record<Options["wire"], string>> = {
  openai: "/v1",
  "openai-responses": "/v1",
  anthropic: "",
  gemini: "/v1beta",
  ollama: "",
};

async function providerOf(plugin: AnyPlugin, baseUrl: string, context: PluginContext): Promise<Instance<Provider>> {
  if (plugin.kind !== "provider") {
    throw new VenturiError("simulator.create", "plugin_failed", `"${plugin.name}" is a ${plugin.kind}, not a provider`);
  }
  const parsed = await plugin.options.parseAsync({ baseUrl, apiKey: "simulated-0000" });
  return (await plugin.create(parsed, context)) as Instance<Provider>; // its kind is provider
}
