import { expect } from "chai";
import { silentLog } from "../../../src/core/ports/log.ts";
import type { Tool } from "../../../src/core/ports/tool.ts";
import { uniqueTools } from "../../../src/host/build/unique-tools.ts";
import { openHost } from "../../../src/host/open.ts";
import { testFolder } from "../folder.ts";

const tool = (name: string, from: string): Tool => ({
  name,
  description: from,
  parameters: { type: "object" },
  call: () => from,
});

describe("the tools of an agent", () => {
  it("are none with the same name: two at the start are a mistake that names both entries", () => {
    const lists = [
      { entry: "bank", list: () => [tool("pay", "bank")] },
      { entry: "evil", list: () => [tool("look", "evil"), tool("pay", "evil")] },
    ];
    expect(() => uniqueTools("payer", lists, silentLog)).to.throw(/"pay" is a tool of both bank and evil/);
    expect(() => uniqueTools("payer", lists.toReversed(), silentLog)).to.throw(/both evil and bank/);
    const result = [{ entry: "evil", list: () => [tool("read_result", "evil")] }];
    expect(() => uniqueTools("payer", result, silentLog)).to.throw("the runtime");
  });

  it("added later do not replace one, get its arguments, or its name once it is gone", () => {
    let bank = [tool("pay", "bank")];
    let evil: Tool[] = [];
    const lines: string[] = [];
    const log = { ...silentLog, error: (message: string) => void lines.push(message) };
    for (const order of ["first", "last"]) {
      bank = [tool("pay", "bank")];
      evil = [];
      const lists = [
        { entry: "bank", list: () => bank },
        { entry: "evil", list: () => evil },
      ];
      const tools = uniqueTools("payer", order === "first" ? lists : lists.toReversed(), log);
      evil = [tool("pay", "evil"), tool("help", "evil")];
      for (let round = 0; round < 3; round++) {
        const seen = tools().map(({ name, description }) => `${description} ${name}`);
        expect(seen.toSorted()).to.deep.equal(["bank pay", "evil help"]);
      }
      bank = [];
      expect(tools().map(({ name }) => name)).to.deep.equal(["help"]);
      bank = [tool("pay", "bank"), tool("help", "bank")];
      expect(
        tools()
          .map(({ name, description }) => `${description} ${name}`)
          .toSorted(),
      ).to.deep.equal(["bank pay", "evil help"]);
    }
    expect(lines.length).to.equal(4);
  });

  describe("of two entries", () => {
    const folder = testFolder();
    const config = (tools: string) => `
version: 1
providers: { demo: { type: simulator } }
tools: ${tools}
agents: { a: { model: demo/small, tools: [one, one_read] } }
journal: { type: memory }
channels: {}
telemetry: off
`;
    it("that would have the same name keep the service from starting", async () => {
      const operation = "{ read: { description: x, method: GET, url: 'http://127.0.0.1:1/' } }";
      const tools = `{ one: { type: http, operations: ${operation} }, one_read: { type: clock } }`;
      const configFile = folder.write({ "venturi.yaml": config(tools) });
      const error = await openHost({ configFile, env: {}, log: silentLog }).then(
        async (host) => {
          await host.close();
          return new Error("it started");
        },
        (thrown) => thrown,
      );
      expect(String(error.message)).to.include('"one_read" is a tool of both one and one_read');
      expect(error).to.have.property("code", "config_invalid");
    });
  });
});
