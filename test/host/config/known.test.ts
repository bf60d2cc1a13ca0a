import { expect } from "chai";
import type { VenturiError } from "../../../src/core/errors/errors.ts";
import { loadConfig } from "../../../src/host/config/load.ts";
import { examine } from "../../../src/host/doctor.ts";
import { testFolder } from "../folder.ts";

const rest = "agents: { assistant: { model: demo/small } }\n";
const demo = "providers: { demo: { type: simulator } }\n";

describe("validate finds every problem that can be found before a start", function () {
  this.timeout(180_000);
  const folder = testFolder();
  const mistake = (text: string, files: Record<string, string> = {}): Promise<string> =>
    loadConfig({ file: folder.write({ "venturi.yaml": text, ...files }) }).then(
      () => expect.fail("it was accepted"),
      (thrown: VenturiError) => thrown.message.replaceAll(folder.path(""), "").replaceAll("//", "/"),
    );

  for (const [what, text, says] of [
    [
      "a module file that is not there",
      `${demo}${rest}tools:\n  orders: { type: module, path: ./ordres.js }\n`,
      /venturi\.yaml:4:\d+ tools\.orders\.path: .*ordres\.js does not exist/,
    ],
    [
      "an agent that is not there",
      `${demo}${rest}tools:\n  helper: { type: agent, agent: asistant }\n`,
      /venturi\.yaml:4:\d+ tools\.helper\.agent: there is no agent "asistant" \(did you mean "assistant"\?\)/,
    ],
    [
      "a simulator fault that is none",
      `providers:\n  demo: { type: simulator, faults: "stal@5" }\n${rest}`,
      /venturi\.yaml:2:\d+ providers\.demo\.faults: "stal@5" is not a fault/,
    ],
    [
      "a scenario file that is not there",
      `providers:\n  demo: { type: simulator, scenarios: [nope.yaml] }\n${rest}`,
      /venturi\.yaml:2:\d+ providers\.demo\.scenarios\[?\.?0\]?: the scenario file can't be read/,
    ],
    [
      "a placeholder that is no input",
      `${demo}agents:\n  a:\n    model: demo/small\n    instructions: Greet {{custmer}}\n    inputs: { customer: { type: string } }\n`,
      /venturi\.yaml:5:\d+ agents\.a\.instructions: \{\{custmer\}\} is not one of the agent's inputs \(did you mean "customer"\?\)/,
    ],
  ] as const) {
    it(what, async () => {
      expect(await mistake(text)).to.match(says);
    });
  }

  it("a module without the wanted export, or that cannot be loaded", async () => {
    const tools = (name: string) =>
      `${demo}${rest}tools:\n  orders: { type: module, path: ./tools.mjs, export: ${name} }\n`;
    const files = {
      "tools.mjs": "export const find = { description: 'd', parameters: { type: 'object' }, call: () => 1 };",
    };
    expect(await mistake(tools("fnd"), files)).to.match(
      /4:\d+ tools\.orders\.export: .*has no export "fnd"; it exports find/,
    );
    expect(await mistake(tools("find"), { "tools.mjs": "export const find = ;" })).to.contain("cannot be loaded");
  });

  it("braces in the instructions of an agent without inputs are literal", async () => {
    const text = `${demo}agents: { a: { model: demo/small, instructions: "Write {{ mustache }}" } }\n`;
    expect((await loadConfig({ file: folder.write({ "venturi.yaml": text }) })).agents).to.have.property("a");
  });

  it("doctor loads what a start would load, and reports each", async () => {
    const text = `${demo}${rest}tools: { gone: { type: mcp, command: /nonexistent/server }, sum: { type: calculator } }\nserver: { listen: 0 }\n`;
    const found = new Map<string, { status: string; found: string }>();
    for await (const finding of examine({ file: folder.write({ "venturi.yaml": text }) }))
      found.set(finding.what, finding);
    expect(found.get("tool sum")).to.include({ status: "good", found: "calculator loads" });
    expect(found.get("tool gone")?.status, JSON.stringify([...found])).to.equal("bad");
  });
});
