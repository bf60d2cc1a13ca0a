import type { ServerResponse } from "node:http";
import { expect } from "chai";
import openai from "../../../plugins/openai/index.ts";
import { Bench, tool } from "../../agent/harness.ts";
import { provider, vendor } from "../vendor.ts";

const chunk = (delta: unknown, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: "c", model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const begin = (index: number, name: string, more: object = {}) =>
  chunk({ tool_calls: [{ index, id: `call_${index}`, type: "function", function: { name, ...more } }] });
const args = (index: number, piece: string) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
const say = (content: string) => chunk({ content });
const end = `${chunk({}, "tool_calls")}data: [DONE]\n\n`;

/** Plays the first generation by hand; the second one ends the run. */
async function played(
  play: (response: ServerResponse, bench: Bench) => Promise<void>,
  ran: unknown[] = [],
): Promise<Bench> {
  let bench: Bench;
  let asked = 0;
  const server = await vendor((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (asked++ > 0) return void response.end(`${say("Done.")}${chunk({}, "stop")}data: [DONE]\n\n`);
    void play(response, bench);
  });
  const model = await provider(openai, { apiKey: "x", baseUrl: `${server.url}/v1` });
  const needs = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const tools = [
    tool("now", (input) => `${ran.push({ ...input })} times noon`),
    tool("other", () => "else"),
    tool("weather", ({ city }) => `rain in ${city}`, { parameters: needs }),
  ];
  bench = new Bench({ model, tools });
  await bench.run();
  await model.close?.();
  await server.close();
  return bench;
}

describe("calls without arguments on the Chat wire", () => {
  const forms: Record<string, string> = {
    "an empty object": begin(0, "now", { arguments: "{}" }),
    "an empty text": begin(0, "now", { arguments: "" }),
    "nothing at all": begin(0, "now"),
    "an empty object in pieces": begin(0, "now", { arguments: "" }) + args(0, "{") + args(0, "}"),
  };
  const ends: Record<string, string> = {
    text: say("Let me see."),
    "the next call": begin(1, "other", { arguments: "" }),
  };

  for (const [form, beginning] of Object.entries(forms)) {
    for (const [what, after] of Object.entries(ends)) {
      it(`wait for the end of the generation, also after ${what}, given as ${form}`, async () => {
        const bench = await played(async (response, running) => {
          response.write(beginning + after);
          await running.when(what === "text" ? "text.delta" : "tool_call.started");
          response.end(end);
        });
        expect(bench.types.indexOf("tool_call.ready")).to.be.above(bench.types.lastIndexOf("tool_call.started"));
        const [now] = bench.of("tool.finished");
        expect(now).to.include({ name: "now", ok: true });
        expect(bench.of("tool_call.ready")[0]).to.deep.include({ name: "now", arguments: {} });
        expect(bench.terminal.type).to.equal("run.finished");
      });

      it(`are not run without the arguments that follow ${what}, after ${form}`, async () => {
        const ran: unknown[] = [];
        const bench = await played(
          async (response) => void response.end(`${beginning}${after}${args(0, '{"zone":')}${args(0, '"UTC"}')}${end}`),
          ran,
        );
        expect(ran).to.deep.equal([{ zone: "UTC" }]);
        const pieces = bench.of("tool_call.delta").filter(({ call }) => call === "call_0");
        expect(pieces.map((piece) => piece.arguments).join("")).to.equal('{"zone":"UTC"}');
        for (const type of ["tool_call.ready", "tool.started", "tool.finished"] as const)
          expect(bench.of(type).filter(({ call }) => call === "call_0")).to.have.length(1);
      });
    }
  }

  it("are none when their arguments come after a blank, or after the next call has begun", async () => {
    for (const between of [say("\n"), begin(1, "now", { arguments: "" })]) {
      const bench = await played(async (response) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        response.write(begin(0, "weather", { arguments: "" }) + between);
        setImmediate(resolve);
        await promise;
        response.end(`${args(0, '{"city":')}${args(0, '"Kiel"}')}${end}`);
      });
      expect(bench.of("tool_call.rejected")).to.deep.equal([]);
      const weather = bench.of("tool.finished").filter(({ name }) => name === "weather");
      expect(weather.map(({ output }) => output)).to.deep.equal(["rain in Kiel"]);
    }
  });

  it("are rejected at the end of the generation where the tool needs some", async () => {
    const bench = await played(async (response) => {
      response.end(begin(0, "weather", { arguments: "" }) + say("I asked for the weather.") + end);
    });
    expect(bench.of("tool_call.rejected")).to.have.length(1);
    expect(bench.types.indexOf("tool_call.rejected")).to.be.above(bench.types.indexOf("text.delta"));
  });
});
