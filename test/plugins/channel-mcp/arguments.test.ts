import { expect } from "chai";
import { runInput } from "../../../plugins/channel-mcp/agents.ts";
import type { Service } from "../../../src/host/service.ts";
import { serviceOf } from "../channel-time/world.ts";

describe("arguments of a call to an agent over MCP", () => {
  let service: Service & { close(): Promise<void> };
  before(async () => {
    service = await serviceOf("channels: { mcp: {}, http: {} }\n");
  });
  after(() => service.close());

  const call = async (given: unknown) => {
    const response = await fetch(`${service.url}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "assistant", arguments: given },
      }),
    });
    const { result } = (await response.json()) as { result: { isError?: boolean; content: { text: string }[] } };
    return { isError: result.isError ?? false, text: result.content[0]?.text };
  };

  it("that do not fit its schema are told to the model, and start nothing", async () => {
    const session = "session: expected a string of at most 256 characters";
    const wrong: [unknown, string][] = [
      [{}, "input is missing"],
      [undefined, "input is missing"],
      [{ input: null }, "input is missing"],
      [{ input: 5 }, "input: expected a string"],
      [{ input: { text: "hello" } }, "input: expected a string"],
      [{ input: "hello", session: 5 }, session],
      [{ input: "hello", session: "s".repeat(257) }, session],
    ];
    for (const [given, text] of wrong) expect(await call(given)).to.deep.equal({ isError: true, text });
    const listed = (await (await fetch(`${service.url}/v1/runs`)).json()) as { runs: unknown[] };
    expect(listed.runs).to.deep.equal([]);
    expect((await call({ input: "hello", session: "s".repeat(256) })).isError).to.equal(false);
  });

  it("that are null are as if left out, for an agent with inputs of its own", () => {
    const agent = { name: "payer", inputs: { properties: { amount: { type: "number" } } } };
    const input = { text: '{"amount":1}', variables: { amount: 1 } };
    expect(runInput(agent as never, { amount: 1, input: null, session: null })).to.deep.equal({ input });
  });

  it("of a prompt or a completion may be no texts", async () => {
    const hostile = { toString: 1 };
    const asked = {
      "prompts/get": { name: "assistant", arguments: { input: hostile } },
      "completion/complete": {
        ref: { type: "ref/prompt", name: "assistant" },
        argument: { name: hostile, value: hostile },
      },
    };
    for (const [method, params] of Object.entries(asked)) {
      const response = await fetch(`${service.url}/mcp`, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      });
      expect(await response.json(), method).to.have.property("result");
    }
  });
});
