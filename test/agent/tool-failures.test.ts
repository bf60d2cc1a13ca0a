import { expect } from "chai";
import { z } from "zod";
import { silentLog } from "../../src/core/ports/log.ts";
import type { Tool } from "../../src/core/ports/tool.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { Bench, run, type Setup, tool } from "./harness.ts";

const strict: Tool = {
  ...tool("strict", (input) => `n=${input.n}`),
  parameters: z.strictObject({ n: z.number() }) as unknown as Tool["parameters"],
};

/** What the model was told in the second round. */
async function told(setup: Omit<Setup, "model">, ...first: ConstructorParameters<typeof ScriptedModel>[0][number]) {
  const model = new ScriptedModel([first, ["ok"]]);
  const bench = await run({ model, ...setup });
  const part = model.requests[1]?.messages.at(-1)?.parts[0];
  return { bench, told: part?.type === "tool_result" ? part : undefined };
}

describe("tool failures are reported to the model and do not end the run", () => {
  it("an unknown tool", async () => {
    const { bench, told: result } = await told({ tools: [strict] }, say.call(0, "nope", {}));
    expect(result).to.deep.include({ ok: false });
    expect(result?.output).to.contain('tool_not_found: there is no tool "nope"; the tools are: strict');
    expect(bench.of("tool_call.rejected")[0]?.error.code).to.equal("tool_not_found");
    expect(bench.terminal.type).to.equal("run.finished");
  });

  for (const raw of ["[1]", '"x"', "12", "null", '{"n":1', "not json", '{"n":1}}']) {
    it(`arguments that are no JSON object: ${raw}`, async () => {
      const call = {
        deltas: [{ type: "tool_call" as const, index: 0, id: "c", name: "strict", arguments: raw, sealed: true }],
      };
      const { bench, told: result } = await told({ tools: [strict] }, call);
      expect(result?.ok).to.equal(false);
      expect(bench.of("tool.started")).to.deep.equal([]);
      expect(bench.of("tool_call.rejected")[0]).to.include({ arguments: raw });
    });
  }

  it("arguments that do not fit the schema", async () => {
    const { bench, told: result } = await told({ tools: [strict] }, say.call(0, "strict", { n: "1" }));
    expect(result?.output).to.contain("tool_invalid_arguments").and.contain("n:");
    expect(bench.of("tool.started")).to.deep.equal([]);
  });

  it("arguments that the token limit cut short are never run, nor taken as {}", async () => {
    const cut = { deltas: [{ type: "tool_call" as const, index: 0, id: "c", name: "any" }] };
    const { bench } = await told({ tools: [tool("any", () => "ran")] }, cut, say.done("length"));
    expect(bench.of("tool.started")).to.deep.equal([]);
    expect(bench.of("tool_call.rejected")).to.have.length(1);
  });

  it("no arguments at all from a finished stream are {}", async () => {
    const bare = { deltas: [{ type: "tool_call" as const, index: 0, id: "c", name: "any" }] };
    const { told: result } = await told({ tools: [tool("any", (input) => JSON.stringify(input))] }, bare);
    expect(result).to.include({ ok: true, output: "{}" });
  });

  it("a tool that throws", async () => {
    const broken = tool("broken", () => {
      throw new Error("boom");
    });
    const { bench, told: result } = await told({ tools: [broken] }, say.call(0, "broken", {}));
    expect(result?.output).to.equal("tool_failed: broken: boom");
    expect(bench.of("tool.finished")[0]?.error?.code).to.equal("tool_failed");
  });

  it("a tool that rejects", async () => {
    const { told: result } = await told(
      { tools: [tool("broken", () => Promise.reject(new Error("no")))] },
      say.call(0, "broken", {}),
    );
    expect(result?.output).to.equal("tool_failed: broken: no");
  });

  it("a tool that hangs past its timeout, and ignores its signal", async () => {
    const hangs = tool("hangs", () => new Promise(() => {}), { timeout: 20 });
    const { told: result } = await told({ tools: [hangs], policy: { grace: 10 } }, say.call(0, "hangs", {}));
    expect(result?.output).to.contain("tool_timeout");
  });

  it("a tool whose output is huge: cut with a notice, kept whole for read_result", async () => {
    const huge = tool("huge", () => `${"x".repeat(5_000)}END`);
    const model = new ScriptedModel([
      [say.call(0, "huge", {})],
      [say.call(0, "read_result", { call: "call-huge-0", offset: 4_990 })],
      ["ok"],
    ]);
    await run({ model, tools: [huge], policy: { maxOutput: 100 } });
    const [first, second] = [1, 2].map((index) => model.requests[index]?.messages.at(-1)?.parts[0]);
    expect(first?.type === "tool_result" && first.output).to.contain("[cut: 100 of 5003 characters are shown");
    expect(second?.type === "tool_result" && second.output).to.contain("xEND");
  });

  it("an output that cannot be written as JSON", async () => {
    const { told: result } = await told({ tools: [tool("big", () => ({ n: 1n }))] }, say.call(0, "big", {}));
    expect(result?.output).to.contain("tool_failed");
  });

  it("are logged with codes and reasons, without arguments or outputs", async () => {
    const warned: unknown[] = [];
    const logger = { ...silentLog, warn: (message: string, fields?: object) => void warned.push([message, fields]) };
    const model = new ScriptedModel([[say.call(0, "nothing", { key: "k" }), say.call(1, "broken", {})], ["ok"]]);
    await run({ model, tools: [tool("broken", () => Promise.reject(new Error("no")))], logger });
    const [rejected, failed] = warned as [string, Record<string, unknown>][];
    expect(rejected?.[1]).to.include({ run: "run-1", tool: "nothing", code: "tool_not_found" });
    expect(rejected?.[1].reason).to.contain('there is no tool "nothing"');
    expect(failed?.[1]).to.include({ run: "run-1", tool: "broken", code: "tool_failed", reason: "broken: no" });
    expect(warned.map((line) => JSON.stringify(line)).join()).not.to.contain('"k"');
  });

  it("onError abort ends the run with the tool's error", async () => {
    const broken = tool("broken", () => Promise.reject(new Error("no")));
    const bench = await run({
      model: new ScriptedModel([[say.call(0, "broken", {})]]),
      tools: [broken],
      policy: { onError: "abort" },
    });
    expect(bench.terminal).to.have.nested.property("error.code", "tool_failed");
  });

  it("a late result of an abandoned tool changes nothing", async () => {
    let finish: (value: string) => void = () => {};
    const late = tool(
      "late",
      () =>
        new Promise<string>((resolve) => {
          finish = resolve;
        }),
    );
    const bench = new Bench({
      model: new ScriptedModel([[say.call(0, "late", {})]]),
      tools: [late],
      policy: { grace: 5 },
    });
    const running = bench.run();
    await bench.when("tool.started");
    bench.signal("cancel", { reason: "enough" });
    await running;
    const count = bench.events.length;
    finish("too late");
    await new Promise((resolve) => setImmediate(resolve));
    expect(bench.events).to.have.length(count);
    expect(bench.terminal).to.have.nested.property("error.code", "stream_interrupted");
  });

  it("a cancel reaches a tool that runs after the generation has ended", async () => {
    const patient = {
      ...tool(
        "patient",
        (_input, context) =>
          new Promise((_resolve, reject) => {
            context.signal.addEventListener("abort", () => reject(context.signal.reason), { once: true });
          }),
      ),
      effect: "effectful" as const,
    };
    const bench = new Bench({ model: new ScriptedModel([[say.call(0, "patient", {})]]), tools: [patient] });
    const running = bench.run();
    await bench.when("tool.started");
    bench.signal("cancel", { reason: "enough" });
    await running;
    expect(bench.terminal).to.have.nested.property("error.code", "stream_interrupted");
  });
});
