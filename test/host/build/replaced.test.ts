import { expect } from "chai";
import memory from "../../../plugins/memory/index.ts";
import { VenturiError } from "../../../src/core/errors/errors.ts";
import { Journal } from "../../../src/core/journal/journal.ts";
import { Log, silentLog } from "../../../src/core/ports/log.ts";
import { ProviderRegistry, type Registry, ToolRegistry } from "../../../src/core/ports/registries.ts";
import { type Provided, provide } from "../../../src/core/values/token.ts";
import { openHost } from "../../../src/host/open.ts";
import { openVenturi } from "../../../src/index.ts";
import { createTelemetry, defaultSettings } from "../../../src/telemetry/index.ts";
import { ScriptedModel, say } from "../../../src/testing/model.ts";
import { testPluginContext } from "../../../src/testing/tool-call.ts";
import { tool } from "../../agent/harness.ts";
import { named } from "../../telemetry/named.ts";
import { Receiver } from "../../telemetry/receiver.ts";
import { testFolder } from "../folder.ts";

const config = `
version: 1
providers: { demo: { type: simulator, pace: 0 } }
tools: { echo: { type: calculator } }
agents: { assistant: { model: demo/small, tools: [echo] } }
journal: { type: memory }
channels: {}
`;

const registryOf = <Port>(ports: Record<string, Port>): Registry<Port> => ({
  names: () => Object.keys(ports),
  get: (name) => ports[name],
});
const script = () => new ScriptedModel([[say.call(0, "echo", { a: 1 })], ["Done", " it."]]);
const echo = () => tool("echo", () => "4711");

describe("replaced parts of the container", () => {
  const folder = testFolder();

  async function spansOf(replace: readonly Provided[]): Promise<Record<string, number>> {
    const receiver = await Receiver.start();
    const telemetry = await createTelemetry(
      { ...defaultSettings, otlp: { endpoint: receiver.endpoint, headers: {} } },
      {},
    );
    const configFile = folder.write({ "venturi.yaml": config });
    const host = await openHost({ configFile, env: {}, log: silentLog, telemetry, replace });
    try {
      const { run } = await host.runs.start({ agent: "assistant", input: { text: "What is 6 * 7?" } });
      for await (const _ of host.runs.follow(run));
    } finally {
      await host.close();
      await receiver.stop();
    }
    const counted = ["chat small", "execute_tool echo", "venturi.round", "venturi.stream", "venturi.deliver"];
    const counts = Object.fromEntries(counted.map((name) => [name, named(receiver.spans, name).length]));
    const many = ["venturi.chunk", "venturi.journal.append"];
    return {
      ...counts,
      ...Object.fromEntries(many.map((name) => [name, Math.min(1, named(receiver.spans, name).length)])),
    };
  }
  const whole = {
    "chat small": 2,
    "execute_tool echo": 1,
    "venturi.round": 2,
    "venturi.stream": 2,
    "venturi.deliver": 0, // the follower of a program has none
    "venturi.chunk": 1,
    "venturi.journal.append": 1,
  };
  const providers = () => provide(ProviderRegistry, registryOf({ demo: script() }));

  it("have the spans of Venturi's own: providers", async () => {
    expect(await spansOf([providers(), provide(ToolRegistry, registryOf({ echo: () => [echo()] }))])).to.deep.equal(
      whole,
    );
  });

  it("have the spans of Venturi's own: a list of tools that changes", async () => {
    const changing = { names: () => ["echo"], get: () => () => [echo(), tool(`other_${Math.random()}`, () => "")] };
    expect(await spansOf([providers(), provide(ToolRegistry, changing)])).to.deep.equal(whole);
  });

  it("have the spans of Venturi's own: the journal", async () => {
    const journal = await memory.create(memory.options.parse({}), testPluginContext());
    const tools = provide(ToolRegistry, registryOf({ echo: () => [echo()] }));
    expect(await spansOf([providers(), tools, provide(Journal, journal)])).to.deep.equal(whole);
    await journal.close();
  });

  it("that the program has had measured have their spans once", async () => {
    const receiver = await Receiver.start();
    const telemetry = await createTelemetry(
      { ...defaultSettings, otlp: { endpoint: receiver.endpoint, headers: {} } },
      {},
    );
    const model = telemetry.provider("demo", "mine", script());
    const replace = [
      provide(ProviderRegistry, registryOf({ demo: model })),
      provide(ToolRegistry, registryOf({ echo: () => [telemetry.tool(echo())] })),
    ];
    const host = await openHost({
      configFile: folder.write({ "venturi.yaml": config }),
      env: {},
      log: silentLog,
      telemetry,
      replace,
    });
    const { run } = await host.runs.start({ agent: "assistant", input: { text: "go" } });
    for await (const _ of host.runs.follow(run));
    await host.close();
    await receiver.stop();
    expect(named(receiver.spans, "chat small")).to.have.length(2);
    expect(named(receiver.spans, "execute_tool echo")).to.have.length(1);
    expect(named(receiver.spans, "chat small")[0]?.attributes["gen_ai.provider.name"]).to.equal("mine");
  });

  it("are opened, and named, as they are", async () => {
    let opened = 0;
    const registry = { ...registryOf({ demo: script() }), open: async () => void opened++ };
    const configFile = folder.write({ "venturi.yaml": config });
    const host = await openHost({
      configFile,
      env: {},
      log: silentLog,
      replace: [provide(ProviderRegistry, registry)],
    });
    await host.close();
    expect(opened).to.equal(1);
  });

  const wrong: { what: string; token: unknown; says: RegExp }[] = [
    { what: "misspelt", token: Symbol("ToolRegistri"), says: /"ToolRegistri".*did you mean "ToolRegistry"/ },
    {
      what: "of the same name",
      token: Symbol("ToolRegistry"),
      says: /another token of that name; import it from venturi\/plugin/,
    },
    {
      what: "far from all",
      token: Symbol("Database"),
      says: /"Database".*is no token.*ProviderRegistry, ToolRegistry/,
    },
    { what: "nameless", token: Symbol(), says: /is no token/ },
    { what: "a text", token: "ToolRegistry", says: /another token of that name/ },
    { what: "missing", token: undefined, says: /"undefined".*is no token/ },
  ];
  for (const { what, token, says } of wrong) {
    it(`under a token that is ${what} are an error with op and code, before anything opens`, async () => {
      const replace = [{ token, value: {} } as Provided];
      const configFile = folder.write({ "venturi.yaml": config });
      for (const open of [
        () => openHost({ configFile, env: {}, log: silentLog, replace }),
        () => openVenturi({ configFile, replace }),
      ]) {
        const thrown = await open().then(
          () => undefined,
          (error: unknown) => error,
        );
        expect(VenturiError.isInstance(thrown)).to.equal(true);
        expect(thrown).to.include({ op: "container.replace", code: "config_invalid" });
        expect((thrown as VenturiError).message).to.match(says);
      }
    });
  }

  it("that are a log get the run's trace ids", async () => {
    const lines: (Record<string, unknown> | undefined)[] = [];
    const log: Log = { ...silentLog, info: (_message, facts) => lines.push(facts) };
    const telemetry = await createTelemetry(defaultSettings, {});
    const replace = [provide(Log, log), providers()];
    const configFile = folder.write({ "venturi.yaml": config });
    const host = await openHost({ configFile, env: {}, telemetry, replace });
    const { run } = await host.runs.start({ agent: "assistant", input: { text: "go" } });
    for await (const _ of host.runs.follow(run));
    await host.close();
    expect(lines.some((facts) => facts?.run === run && typeof facts.trace_id === "string")).to.equal(true);
  });
});
