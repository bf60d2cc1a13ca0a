import { expect } from "chai";
import memory from "../../../plugins/memory/index.ts";
import { Journal } from "../../../src/core/journal/journal.ts";
import { Clock, systemClock } from "../../../src/core/ports/clock.ts";
import { Log, silentLog } from "../../../src/core/ports/log.ts";
import { type PipelineWork, StreamPipelines } from "../../../src/core/ports/pipeline.ts";
import { ChannelRegistry, ProviderRegistry, type Registry, ToolRegistry } from "../../../src/core/ports/registries.ts";
import { noTelemetry, Telemetry } from "../../../src/core/ports/telemetry.ts";
import { isTerminal, type RunEvent } from "../../../src/core/run/events.ts";
import { noTiming } from "../../../src/core/run/timing.ts";
import { type Provided, provide } from "../../../src/core/values/token.ts";
import { loadConfig } from "../../../src/host/config/load.ts";
import { graphOf } from "../../../src/host/graph.ts";
import { type Host, openHost } from "../../../src/host/open.ts";
import { ScriptedModel, say } from "../../../src/testing/model.ts";
import { testPluginContext } from "../../../src/testing/tool-call.ts";
import { tool } from "../../agent/harness.ts";
import { venturi } from "../../cli/venturi.ts";
import { testFolder } from "../folder.ts";

const config = `
version: 1
providers: { demo: { type: simulator, pace: 0 } }
tools: { calculator: { type: calculator } }
agents: { assistant: { model: demo/small, tools: [calculator] } }
journal: { type: memory }
channels: { http: {} }
telemetry: off
`;

const registryOf = <Port>(ports: Record<string, Port>): Registry<Port> => ({
  names: () => Object.keys(ports),
  get: (name) => ports[name],
});

describe("the container", () => {
  const folder = testFolder();
  let host: Host;
  const open = async (...replace: Provided[]) => {
    host = await openHost({ configFile: folder.write({ "venturi.yaml": config }), env: {}, log: silentLog, replace });
    return host;
  };
  afterEach(() => host.close());

  async function run(text: string): Promise<RunEvent[]> {
    const { run: id } = await host.runs.start({ agent: "assistant", input: { text } });
    const events: RunEvent[] = [];
    for await (const batch of host.runs.follow(id)) events.push(...batch);
    return events;
  }
  const outputOf = (events: readonly RunEvent[]) => {
    const last = events.at(-1);
    return last !== undefined && isTerminal(last) ? last.output : undefined;
  };

  it("wires the providers that stand in it", async () => {
    const model = new ScriptedModel([["Mine."]]);
    await open(provide(ProviderRegistry, registryOf({ demo: model })));
    expect(outputOf(await run("What is 6 * 7?"))).to.equal("Mine.");
    expect(model.requests).to.have.length(1);
  });

  it("wires the tools that stand in it", async () => {
    const mine = tool("calculator", () => "4711");
    await open(provide(ToolRegistry, registryOf({ calculator: () => [mine] })));
    const finished = (await run("What is 6 * 7?")).find(({ type }) => type === "tool.finished");
    expect(finished).to.include({ name: "calculator", output: "4711" });
  });

  it("wires the channels that stand in it", async () => {
    const channel = { mount: () => {} };
    await open(provide(ChannelRegistry, registryOf({ mine: channel })));
    expect(await host.openChannels()).to.deep.equal([{ name: "mine", channel }]);
  });

  it("wires the pipeline that stands in it", async () => {
    const works: PipelineWork[] = [];
    const finish = async ({ log, claim }: PipelineWork) => {
      log.write({ type: "run.started", agent: claim.request.agent, input: claim.request.input });
      const ending = { finish: "stop", output: "Piped.", usage: {}, rounds: 0, timing: noTiming };
      await log.step({ type: "run.finished", ...ending });
    };
    const pipelines = {
      open: (work: PipelineWork) => {
        works.push(work);
        return { run: () => finish(work) };
      },
    };
    await open(provide(StreamPipelines, pipelines));
    expect(outputOf(await run("hello"))).to.equal("Piped.");
    expect(works).to.have.length(1);
  });

  it("wires the journal that stands in it, and makes no other", async () => {
    const journal = await memory.create(memory.options.parse({}), testPluginContext());
    await open(provide(Journal, journal));
    expect(host.journal).to.equal(journal);
    const events = await run("hello");
    expect(await journal.read(events[0]?.run ?? "", 0, 100)).to.have.length(events.length);
    await journal.close();
  });

  it("wires the clock, the log and the telemetry that stand in it", async () => {
    const lines: string[] = [];
    const log: Log = { ...silentLog, info: (message) => lines.push(message) };
    let asked = 0;
    const clock: Clock = { ...systemClock, now: () => 1_000_000 + asked++ };
    let measured = 0;
    const telemetry: Telemetry = {
      ...noTelemetry,
      provider: (name, type, provider) => {
        measured += 1;
        return noTelemetry.provider(name, type, provider);
      },
    };
    await open(provide(Log, log), provide(Clock, clock), provide(Telemetry, telemetry));
    const events = await run("hello");
    expect(lines).to.include("run finished");
    expect(measured).to.equal(1);
    expect(asked).to.be.above(0);
    expect(outputOf(events)).not.to.equal("");
  });

  it("gives plugins what they ask for through their context, and nothing else", async () => {
    const plugin = `
import { definePlugin, ProviderRegistry, ToolRegistry, Journal, Clock, Runs } from "venturi/plugin";
import { z } from "zod";
export default definePlugin({
  name: "asker", kind: "tool", options: z.strictObject({}),
  create: (_options, context) => {
    const [providers, tools, journal, clock] = [ProviderRegistry, ToolRegistry, Journal, Clock].map((token) => context.resolve(token));
    let refused = "";
    try { context.resolve(Symbol("Config")); } catch (error) { refused = error.message; }
    return { name: "asker", description: "asks", parameters: { type: "object" }, effect: "pure",
      call: () => JSON.stringify({ providers: providers.names(), tools: tools.names(), lease: journal.lease > 0, now: clock.now() > 0,
        agents: context.resolve(Runs).agents().length, refused }) };
  },
});
`;
    const files = {
      "venturi.yaml": config
        .replace("tools: {", "plugins: [./asker.mjs]\ntools: { asker: { type: asker },")
        .replace("tools: [calculator]", "tools: [asker]"),
      "asker.mjs": plugin
        .replace('"venturi/plugin"', JSON.stringify(import.meta.resolve("../../../src/plugin.js")))
        .replace('"zod"', JSON.stringify(import.meta.resolve("zod"))),
    };
    const model = new ScriptedModel([[say.call(0, "asker", {})], ["ok"]]);
    host = await openHost({
      configFile: folder.write(files),
      env: {},
      log: silentLog,
      replace: [provide(ProviderRegistry, registryOf({ demo: model }))],
    });
    const finished = (await run("go")).find(({ type }) => type === "tool.finished");
    const told = JSON.parse(finished?.type === "tool.finished" ? (finished.output ?? "") : "") as Record<
      string,
      unknown
    >;
    expect(told).to.deep.include({
      providers: ["demo"],
      tools: ["asker", "calculator"],
      lease: true,
      now: true,
      agents: 1,
    });
    expect(told.refused).to.match(/can't have Config; it may ask for: ProviderRegistry, ToolRegistry/);
  });

  it("keeps singletons over a reload, makes a revision's parts anew, and a pipeline for each run", async () => {
    await open();
    const before = host.revision();
    const pipelines = before.pipelines;
    await run("hello");
    expect((await host.reload()).ok).to.equal(true);
    expect(host.revision()).not.to.equal(before);
    expect(host.revision().pipelines).not.to.equal(pipelines);
    expect(outputOf(await run("hello"))).not.to.equal("");
  });
});

describe("venturi plugins --graph", () => {
  const folder = testFolder();

  it("prints lifetimes, dependencies and the entries of each registry", async () => {
    const file = folder.write({ "venturi.yaml": config });
    const { out, exit } = await venturi(["--config", file, "plugins", "--graph"]);
    expect(exit).to.equal(0);
    const [singletons = "", revision = "", each = ""] = out.split(/^(?:revision|run)$/m);
    expect(singletons)
      .to.match(/^singleton\n/)
      .and.match(/Journal\n {4}memory \(memory\)|Journal\n {4}journal \(memory\)/);
    expect(singletons).to.match(/ChannelRegistry +← Config, Instances\n {4}http \(channel-http\)/);
    expect(revision).to.match(
      /ProviderRegistry +← Config, Instances, Telemetry, Journal, Log, Clock\n {4}demo \(simulator\)/,
    );
    expect(revision).to.match(/ToolRegistry +← Config, Instances, Telemetry, Log\n {4}calculator \(calculator\)/);
    expect(each).to.match(/StreamPipeline +← PipelineWork, ConfigRevision/);
  });

  it("names only what is registered, and nothing that lives shorter than what needs it", async () => {
    const nodes = graphOf(await loadConfig({ file: folder.write({ "venturi.yaml": config }) }));
    const lives = { singleton: 3, revision: 2, run: 1 };
    for (const { token, lifetime, needs } of nodes) {
      for (const need of needs) {
        const longest = Math.max(...nodes.filter((node) => node.token === need).map((node) => lives[node.lifetime]), 0);
        expect(longest, `${token} needs ${need}`).to.be.at.least(lives[lifetime]);
      }
    }
  });
});
