import { expect } from "chai";
import { checkCapabilities } from "../../src/agent/model/capabilities.ts";
import type { Capabilities, Provider } from "../../src/core/provider.ts";
import { ScriptedModel } from "../../src/testing/model.ts";

const all: Capabilities = { streaming: true, tools: true, vision: true, reasoning: true };
const needs = { tools: false, vision: false, files: [] };
const portWith = (lacking: Partial<Capabilities>): Provider => {
  const model = new ScriptedModel([]);
  return { capabilities: { ...all, ...lacking }, ...(model.stream && { stream: model.stream }) };
};

describe("capabilities of a model", () => {
  it("decide before the run starts whether it may have the run", () => {
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
