import { expect } from "chai";
import { checkCapabilities } from "../../src/agent/run/capabilities.ts";
import { forCall } from "../../src/agent/run/for-call.ts";
import type { Capabilities, Provider } from "../../src/core/model/provider.ts";
import type { RunRequest } from "../../src/core/run/run-request.ts";
import { ScriptedModel } from "../../src/testing/model.ts";
import { agentOf } from "./harness.ts";

const all: Capabilities = { streaming: true, tools: true, vision: true, reasoning: true };
const needs = { tools: false, vision: false, files: [] };
const portWith = (lacking: Partial<Capabilities>): Provider => {
  const model = new ScriptedModel([]);
  return { capabilities: { ...all, ...lacking }, ...(model.stream && { stream: model.stream }) };
};

describe("capabilities of a model", () => {
  it("choose among the models of a chain those that can do what the call needs", () => {
    const blind = portWith({ vision: false });
    const agent = agentOf({ model: [blind, portWith({}), portWith({ tools: false })] });
    const image = { type: "image" as const, mediaType: "image/png", data: "aWNvbg==" };
    const names = (request: Partial<RunRequest>) =>
      forCall(agent, { agent: "tester", input: { text: "hi" }, ...request }).model.targets.map(({ name }) => name);
    expect(names({})).to.deep.equal(["p0/m", "p1/m", "p2/m"]);
    expect(names({ input: { messages: [{ role: "user", parts: [image] }] } })).to.deep.equal(["p1/m", "p2/m"]);
    const clientTools = [{ name: "pick", description: "", parameters: {} }];
    expect(names({ clientTools })).to.deep.equal(["p0/m", "p1/m"]);
  });

  it("are checked before the run starts", () => {
    const check = (port: Provider, asked: Partial<typeof needs>) =>
      checkCapabilities(port, "p/m", { ...needs, ...asked });
    expect(() => check(portWith({}), { tools: true, vision: true })).not.to.throw();
    for (const [port, asked, what] of [
      [portWith({ tools: false }), { tools: true }, /p\/m cannot call tools/],
      [portWith({ vision: false }), { vision: true }, /p\/m cannot see images/],
      [{ capabilities: all }, {}, /can neither stream nor generate/],
    ] as const) {
      expect(() => check(port, asked))
        .to.throw(what)
        .with.property("code", "streaming_not_supported");
    }
  });
});
