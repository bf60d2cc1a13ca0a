import { expect } from "chai";
import { z } from "zod";
import type { VenturiError } from "../../../src/core/errors/errors.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import { type AnyPlugin, definePlugin, type PluginContext } from "../../../src/core/ports/plugin.ts";
import { noTelemetry } from "../../../src/core/ports/telemetry.ts";
import type { Tool, ToolContext } from "../../../src/core/ports/tool.ts";
import { Instances } from "../../../src/host/build/instances.ts";
import { toolsOf } from "../../../src/host/build/tools.ts";
import type { ToolEntry } from "../../../src/host/config/entries.ts";
import { type Config, loadConfig } from "../../../src/host/config/load.ts";
import { VirtualClock } from "../../../src/testing/clock.ts";
import { preamble, testFolder } from "../folder.ts";

const entryOf = (plugin: unknown): ToolEntry => ({
  name: "mine",
  type: "some-tool",
  options: {},
  loaded: { plugin: plugin as AnyPlugin, from: "here", version: "1.0.0" },
});
const tool: Tool = {
  name: "one",
  description: "one",
  parameters: z.strictObject({}),
  effect: "effectful",
  call: () => "done",
};

describe("instances of plugins", () => {
  const folder = testFolder();
  const clock = new VirtualClock();
  let config: Config;
  beforeEach(async () => {
    config = await loadConfig({ file: folder.write({ "a.yaml": preamble }) });
  });
  const instances = () =>
    new Instances(
      config,
      silentLog,
      clock,
      () => expect.fail("no runs here"),
      () => expect.fail("no container here"),
      true,
    );
  const make = (create: (options: unknown, context: PluginContext) => unknown) =>
    instances().make(
      "tool",
      entryOf({
        ...definePlugin({ name: "some-tool", kind: "tool", options: z.strictObject({}), create: () => tool }),
        create,
      }),
    );
  const failure = (promise: Promise<unknown>) =>
    promise.then(
      () => expect.fail("it did not fail"),
      (thrown: VenturiError) => thrown,
    );

  it("get their key, the folder of the config and the plugins of the box", async () => {
    let seen: PluginContext | undefined;
    await make((_options, context) => {
      seen = context;
      return tool;
    });
    expect([seen?.name, seen?.folder]).to.deep.equal(["mine", folder.path(".").replace(/\/\.$/, "")]);
    expect(seen?.shortLived).to.equal(true);
    expect((await seen?.plugin("clock"))?.kind).to.equal("tool");
    expect((await failure(seen?.plugin("nothing") ?? Promise.resolve())).code).to.equal("plugin_failed");
  });

  it("that hang are given up and named", async () => {
    const making = failure(make(() => new Promise(() => {})));
    await clock.advance(60_000);
    expect((await making).message).to.equal("plugin some-tool (mine): not ready after 60 s");
    expect(clock.pending).to.equal(0);
  });

  it("that come too late are closed", async () => {
    const late = Promise.withResolvers<unknown>();
    const closed = Promise.withResolvers<void>();
    const making = failure(make(() => late.promise));
    await clock.advance(60_000);
    await making;
    late.resolve({ ...tool, close: closed.resolve });
    await closed.promise;
  });

  it("that do not close are given up and named, and the others are closed", async () => {
    const all = instances();
    const closed: string[] = [];
    const hanging = (close: () => unknown) => entryOf({ create: () => ({ ...tool, close }) });
    await all.make(
      "tool",
      hanging(() => closed.push("first")),
    );
    await all.make(
      "tool",
      hanging(() => new Promise(() => {})),
    );
    const closing = failure(all.close());
    await clock.advance(60_000);
    expect((await closing).message).to.equal("plugin some-tool (mine): not closed after 8 s");
    expect(closed).to.deep.equal(["first"]);
    expect(clock.pending).to.equal(0);
  });

  it("that are undefined are named", async () => {
    expect((await failure(make(() => undefined))).message).to.equal("plugin some-tool (mine): create returned nothing");
  });

  it("a tool is named by its key, with the config's settings", async () => {
    const [only] = toolsOf(
      { ...entryOf({ options: z.strictObject({}) }), effect: "pure", timeout: 5, approval: "always", maxOutput: 9 },
      tool,
      { telemetry: noTelemetry, log: silentLog },
    )();
    expect(only).to.deep.include({ name: "mine", effect: "pure", timeout: 5, approval: "always", maxOutput: 9 });
    expect(only?.call({}, {} as ToolContext)).to.equal("done");
  });

  it("a tool whose plugin reads a key itself decides about it", () => {
    const entry = {
      ...entryOf({ options: z.strictObject({ timeout: z.number(), approval: z.string() }) }),
      timeout: 5,
    };
    const [only] = toolsOf(
      { ...entry, approval: "once" },
      { ...tool, timeout: 7 },
      { telemetry: noTelemetry, log: silentLog },
    )();
    expect(only).to.deep.include({ timeout: 7, approval: "once" });
  });

  it("the tools of a source keep their names and, as long as they are there, their identity", () => {
    let list: readonly Tool[] = [tool];
    const tools = toolsOf(
      { ...entryOf({ options: z.strictObject({}) }), effect: "pure" },
      { list: () => list },
      { telemetry: noTelemetry, log: silentLog },
    );
    const [first] = tools();
    expect(first).to.deep.include({ name: "one", effect: "pure" });
    list = [tool, { ...tool, name: "two", exclusive: true }];
    expect(tools().map(({ name }) => name)).to.deep.equal(["one", "two"]);
    expect(tools()[0]).to.equal(first);
  });
});
