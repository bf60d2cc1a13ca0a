import { expect } from "chai";
import { silentLog, systemClock, textMessage } from "venturi/internal";
import {
  type GenerationContext,
  type GenerationRequest,
  type Instance,
  type Message,
  type PluginContext,
  type Provider,
  VenturiError,
} from "venturi/plugin";
import simulator from "../../../plugins/simulator/index.ts";
import { wireNames } from "../../../plugins/simulator/wire.ts";
import { defaultTimeouts } from "../../../src/agent/run/definition.ts";
import { PluginLoader } from "../../../src/host/plugins/plugin-loader.ts";
import { Transcript } from "../../../src/provider/transcript.ts";
import { asksForBoth, both } from "./tools.ts";

const loader = new PluginLoader();

const context: PluginContext = {
  name: "demo",
  log: silentLog,
  clock: systemClock,
  folder: ".",
  runs: () => {
    throw new Error("not here");
  },
  resolve: () => {
    throw new Error("not here");
  },
  plugin: async (name) => (await loader.get(name)).plugin,
};

const generation = (): GenerationContext => ({
  run: "run_1",
  round: 1,
  attempt: 1,
  agent: "assistant",
  signal: new AbortController().signal,
  timeouts: defaultTimeouts,
});

const asked = (messages: readonly Message[]): GenerationRequest => ({
  model: "small",
  messages,
  tools: both,
  options: {},
});

async function heard(provider: Provider, request: GenerationRequest, quirks: string[] = []): Promise<Transcript> {
  const transcript = new Transcript();
  const observer = { chunk: () => {}, accumulated: () => {}, quirk: (name: string) => quirks.push(name) };
  if (provider.stream === undefined) throw new Error("it can't stream");
  for await (const deltas of provider.stream(request, { ...generation(), observer })) transcript.push(deltas);
  if (transcript.error !== undefined) throw transcript.error;
  return transcript;
}

describe("the simulator as a provider", () => {
  const opened: Instance<Provider>[] = [];
  const create = async (options: object): Promise<Instance<Provider>> => {
    const provider = await simulator.create(simulator.options.parse(options), context);
    opened.push(provider);
    return provider;
  };
  afterEach(async () => {
    for (const provider of opened.splice(0)) await provider.close?.();
  });

  for (const wire of wireNames) {
    it(`holds a conversation with two parallel tool calls over ${wire}, and closes`, async () => {
      const provider = await create({ wire, pace: 0 });
      const question = textMessage("user", asksForBoth);
      const first = await heard(provider, asked([question]));
      const calls = first.calls.map((call) => {
        const result = call.result();
        if (!result.ok) throw result.error;
        return { type: "tool_call" as const, call: call.id, name: call.name, arguments: result.arguments };
      });
      expect(calls.map((call) => [call.name, call.arguments])).to.deep.equal([
        ["clock", { timeZone: "Asia/Tokyo" }],
        ["calculator", { expression: "17 * 23" }],
      ]);
      expect(first.usage?.outputTokens).to.be.greaterThan(0);
      const outputs = ["12:30", "391"];
      const results = calls.map(({ call, name }, index) => {
        return { type: "tool_result" as const, call, name, ok: true, output: outputs[index] ?? "" };
      });
      const talk: Message[] = [question, { role: "assistant", parts: calls }, { role: "tool", parts: results }];
      expect((await heard(provider, asked(talk))).text).to.equal("It is 12:30. 17 * 23 = 391.");
      await provider.close?.();
      const failed = await heard(provider, asked([question])).catch((error: unknown) => error);
      expect(failed).to.be.instanceOf(VenturiError).with.property("code", "unavailable");
    });
  }

  const tolerated = "comments,crlf,unknown-event@3,one-byte,late-usage";
  const fatal: Record<string, string> = {
    "missing-end": "stream_error",
    "malformed@4": "stream_error",
    "cut@150": "stream_error",
    "drop@150": "stream_error",
    "reset@150": "stream_error",
    "error=400@4": "invalid_input",
    "status=401": "unauthorized",
    "status=503": "unavailable",
    "rate-limit=70": "rate_limited",
  };

  for (const wire of wireNames) {
    it(`speaks ${wire} without a quirk, and with tolerable faults says the same`, async () => {
      const provider = await create({ wire, pace: 0 });
      const request = asked([textMessage("user", asksForBoth)]);
      const quirks: string[] = [];
      const clean = await heard(provider, request, quirks);
      expect(quirks).to.deep.equal([]);
      const disturbed = await heard(provider, { ...request, model: `small!${tolerated}` });
      expect(disturbed.calls.map((call) => call.text)).to.deep.equal(clean.calls.map((call) => call.text));
      expect(disturbed.done?.finish).to.equal("tool_calls");
      expect(disturbed.usage?.outputTokens).to.be.greaterThan(0);
    });

    it(`with fatal faults over ${wire} ends in the error that fits`, async () => {
      const provider = await create({ wire, pace: 0 });
      const request = asked([textMessage("user", asksForBoth)]);
      const codes: Record<string, unknown> = {};
      for (const fault of Object.keys(fatal)) {
        const ended = await heard(provider, { ...request, model: `small!${fault}` }).catch((thrown: unknown) => thrown);
        codes[fault] = ended instanceof VenturiError ? ended.code : ended;
      }
      // Ollama has nothing but words for an error in a stream.
      const told = wire === "ollama" ? { ...fatal, "error=400@4": "llm_error" } : fatal;
      expect(codes).to.deep.equal(told);
    });
  }

  it("answers whole as well", async () => {
    const provider = await create({ pace: 0 });
    const answer = await provider.generate?.(asked([textMessage("user", "calculate 2 + 2")]), generation());
    expect(answer?.parts.at(-1)).to.deep.include({
      type: "tool_call",
      name: "calculator",
      arguments: { expression: "2 + 2" },
    });
  });

  it("brings scenarios and faults from its options", async () => {
    const scenarios = [{ name: "short", turns: [{ text: "one two three", finish: "length" as const }] }];
    const provider = await create({ pace: 0, scenarios, faults: "crlf" });
    const transcript = await heard(provider, { ...asked([textMessage("user", "hi")]), model: "short" });
    expect(transcript.text).to.equal("one two three");
    expect(transcript.done?.finish).to.equal("length");
    const limited = heard(provider, { ...asked([textMessage("user", "hi")]), model: "small!rate-limit=70" });
    const error = await limited.catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(VenturiError).with.property("code", "rate_limited");
    expect(error).to.have.nested.property("details.retryAfterMs", 70);
  });

  it("leaves no server behind when the wire's provider can't be made", async () => {
    const without: PluginContext = { ...context, plugin: () => Promise.reject(new Error("no such plugin")) };
    const failed = await Promise.resolve(simulator.create(simulator.options.parse({}), without)).catch(String);
    expect(failed).to.equal("Error: no such plugin");
  });
});
