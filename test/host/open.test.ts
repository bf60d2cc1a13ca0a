import { expect } from "chai";
import { defaultTimeouts } from "../../src/agent/run/definition.ts";
import type { VenturiError } from "../../src/core/errors/errors.ts";
import { type Log, silentLog } from "../../src/core/ports/log.ts";
import { noTelemetry } from "../../src/core/ports/telemetry.ts";
import { type Host, openHost } from "../../src/host/open.ts";
import { preamble, testFolder } from "./folder.ts";
import { kept } from "./sample/kept.ts";

describe("the composition root", () => {
  const folder = testFolder();
  const text = (attempts: number, extra = "") => `${preamble}providers:
  demo: { type: sample-provider, attempts: ${attempts} }
tools: { greet: { type: sample-tool, timeout: 2s, effect: pure } }
models: { main: { chain: [demo/small/2], retry: { max: 5 }, options: { temperature: 0.2 } } }
agents:
  assistant: { model: main, tools: [greet], instructions: be brief }
  plain: { model: demo/small }
${extra}`;
  let host: Host | undefined;
  const open = async (config: string, log: Log = silentLog): Promise<Host> => {
    host = await openHost({ configFile: folder.write({ "venturi.yaml": config }), log, telemetry: noTelemetry });
    return host;
  };
  beforeEach(() => void kept.splice(0));
  afterEach(async () => {
    await host?.close().catch(() => {});
    host = undefined;
  });

  const answer = async (
    agent: ReturnType<Host["revision"]>["agents"] extends ReadonlyMap<string, infer A> ? A : never,
  ) => {
    const port = agent.model.targets[0]?.port;
    const request = { model: "small", messages: [], tools: [], options: {} };
    const revision = await port?.generate?.(request, {
      run: "r",
      round: 1,
      attempt: 1,
      agent: agent.name,
      signal: AbortSignal.abort(),
      timeouts: defaultTimeouts,
    });
    return revision?.parts;
  };

  it("builds agents from the config", async () => {
    const { agents } = (await open(text(1))).revision();
    const assistant = agents.get("assistant");
    expect(assistant?.model.targets.map(({ name, provider, model }) => [name, provider, model])).to.deep.equal([
      ["demo/small/2", "demo", "small/2"],
    ]);
    expect(assistant?.model).to.deep.include({ retry: { max: 5, longestWait: 60_000 }, options: { temperature: 0.2 } });
    expect(assistant?.tools().map(({ name, timeout, effect }) => ({ name, timeout, effect }))).to.deep.equal([
      { name: "greet", timeout: 2000, effect: "pure" },
    ]);
    expect(agents.get("plain")?.model.timeout).to.deep.equal({
      connect: 3000,
      firstChunk: undefined,
      idle: 300_000,
      total: 1_800_000,
    });
  });

  it("opens the journal first and closes everything in reverse order", async () => {
    const opened = await open(text(1));
    await opened.openChannels();
    await opened.close();
    expect(kept).to.deep.equal([
      "open journal",
      "open demo",
      "open greet",
      "open sample",
      "close greet",
      "close demo",
      "close sample",
      "close journal",
    ]);
  });

  it("closes what a reload opened while it closes, and refuses a reload that comes later", async () => {
    const opened = await open(text(1));
    const [outcome] = await Promise.all([opened.reload(), opened.close()]);
    expect(outcome.ok).to.equal(true);
    const later = await opened.reload();
    expect(later).to.have.nested.property("error.code", "shutting_down");
    const lines = (verb: string) => kept.filter((line) => line.startsWith(verb)).map((line) => line.slice(verb.length));
    expect(lines("close ").sort()).to.deep.equal(lines("open ").sort());
    expect(lines("open demo")).to.have.length(2);
  });

  it("keeps two revisions alive while a run holds the old one, and closes it after its last run", async () => {
    const { revision, reload } = await open(text(1));
    const old = revision();
    const [first, second] = [old.acquire(), old.acquire()];
    const oldAgent = old.agents.get("assistant");
    folder.write({ "venturi.yaml": text(2) });
    expect(await reload()).to.deep.include({ ok: true, restart: [] });

    const current = revision();
    expect(current).not.to.equal(old);
    expect(current.config.hash).not.to.equal(old.config.hash);
    const newAgent = current.agents.get("assistant");
    if (oldAgent === undefined || newAgent === undefined) return expect.fail("no agent");
    expect(await answer(oldAgent)).to.deep.equal([{ type: "text", text: "attempts 1" }]);
    expect(await answer(newAgent)).to.deep.equal([{ type: "text", text: "attempts 2" }]);

    first();
    first();
    expect(kept.filter((line) => line.startsWith("close"))).to.deep.equal([]);
    second();
    await old.retire();
    expect(kept.slice(-2)).to.deep.equal(["close greet", "close demo"]);
    expect(current.held).to.equal(0);
  });

  it("the end of the host closes every revision, held or not", async () => {
    const opened = await open(text(1));
    opened.revision().acquire();
    folder.write({ "venturi.yaml": text(2) });
    await opened.reload();
    opened.revision().acquire();
    await opened.close();
    expect(kept.filter((line) => line === "close demo")).to.have.lengthOf(2);
    expect(kept.at(-1)).to.equal("close journal");
  });

  it("a file that is wrong changes nothing, and says so", async () => {
    const logged: unknown[] = [];
    const log: Log = { ...silentLog, error: (message, fields) => logged.push([message, fields?.code]) };
    const { revision, reload } = await open(text(1), log);
    const before = revision();
    folder.write({ "venturi.yaml": text(2, "limits: { bdy: 1 }") });
    const outcome = await reload();
    expect(outcome.ok).to.equal(false);
    expect(outcome.ok ? "" : String(outcome.error)).to.match(
      /config.reload: config.load: config_invalid: .*limits\.bdy/,
    );
    expect(logged).to.deep.equal([["config.reload", "config_invalid"]]);
    expect(revision()).to.equal(before);
    expect(kept).not.to.include("close demo");
  });

  it("a plugin that can't be made leaves the old revision in place and closes what was made of the new", async () => {
    const { revision, reload } = await open(text(1));
    const before = revision();
    kept.splice(0);
    folder.write({
      "venturi.yaml": text(1).replace(
        "providers:",
        "providers:\n  first: { type: sample-provider }\n  bad: { type: sample-provider, fail: true }",
      ),
    });
    const outcome = await reload();
    expect(outcome.ok ? undefined : outcome.error.code).to.equal("plugin_failed");
    expect(outcome.ok ? "" : outcome.error.message).to.equal("plugin sample-provider (bad): no such model server");
    expect(revision()).to.equal(before);
    expect(kept).to.deep.equal(["open first", "close first"]);
  });

  it("says which changes need a restart", async () => {
    const { reload } = await open(text(1));
    folder.write({ "venturi.yaml": text(1, "server: { listen: 127.0.0.1:9999 }\nlimits: { drain: 1s }") });
    expect(await reload()).to.deep.include({ ok: true, restart: ["server", "limits"] });
  });

  it("two reloads at once happen one after the other", async () => {
    const { revision, reload } = await open(text(1));
    folder.write({ "venturi.yaml": text(2) });
    const [first, second] = await Promise.all([reload(), reload()]);
    expect([first?.ok, second?.ok]).to.deep.equal([true, true]);
    expect(kept.filter((line) => line === "open demo")).to.have.lengthOf(3);
    expect(revision().config.hash).to.equal(second?.ok ? second.hash : "");
  });

  it("a start that fails closes what it had opened and names the plugin", async () => {
    const error = await open(text(1).replace("attempts: 1", "fail: true")).catch((thrown: VenturiError) => thrown);
    expect((error as VenturiError).code).to.equal("plugin_failed");
    expect((error as VenturiError).message).to.include("sample-provider (demo)");
    expect(kept).to.deep.equal(["open journal", "close journal"]);
  });

  it("a plugin that can't be closed takes no other down", async () => {
    const opened = await open(text(1).replace("timeout: 2s", "failClose: true"));
    const error = await opened.close().catch((thrown: VenturiError) => thrown);
    expect((error as VenturiError).message).to.equal("plugin sample-tool (greet): the door is stuck");
    expect(kept.slice(-3)).to.deep.equal(["close greet", "close demo", "close journal"]);
  });
});
