import { expect } from "chai";
import { pinOf, Vetted } from "../../../plugins/mcp/pin.ts";
import { testPluginContext } from "../../../src/testing.ts";

type Remote = Parameters<Vetted["isChanged"]>[0];
const remote = (name: string, description = "does it", more: object = {}): Remote =>
  ({ name, description, inputSchema: { type: "object" }, ...more }) as Remote;

describe("what an MCP server says of its tools", () => {
  const context = () => testPluginContext({ name: "server" });

  it("has a pin that changes with every word of it, and with no order of it", () => {
    const pin = pinOf([remote("a"), remote("b")]);
    expect(pin).to.match(/^sha256:[0-9a-f]{64}$/);
    expect(pinOf([remote("b"), remote("a")])).to.equal(pin);
    const reordered = { description: "does it", inputSchema: { type: "object" }, name: "a" } as Remote;
    expect(pinOf([reordered, remote("b")])).to.equal(pin);
    const others = [
      [remote("a")],
      [remote("a"), remote("c")],
      [remote("a"), remote("b", "does more")],
      [remote("a"), remote("b", "does it", { inputSchema: { type: "object", required: ["x"] } })],
      [remote("a"), remote("b", "does it", { annotations: { readOnlyHint: true } })],
      [remote("a"), remote("b", "does it", { title: "B" })],
    ];
    expect(new Set([pin, ...others.map(pinOf)]).size).to.equal(7);
  });

  it("is believed as it was first: a tool that changes is a changed one until it is as before", () => {
    const vetted = new Vetted(undefined, context());
    expect(vetted.isChanged(remote("a"))).to.equal(false);
    expect(vetted.isChanged(remote("a"))).to.equal(false);
    expect(vetted.isChanged(remote("a", "does more"))).to.equal(true);
    expect(vetted.isChanged(remote("a", "does more"))).to.equal(true);
    expect(vetted.isChanged(remote("a"))).to.equal(false);
    expect(vetted.isChanged(remote("b", "does more"))).to.equal(false);
  });

  it("is refused at the start when it is not what was pinned, and ignored later", () => {
    const tools = [remote("a")];
    expect(() => new Vetted("sha256:00", context()).admit(tools))
      .to.throw()
      .with.include({ code: "config_invalid" });
    const vetted = new Vetted(pinOf(tools), context());
    expect(vetted.admit(tools)).to.equal(tools);
    expect(vetted.admit([remote("a", "does more")])).to.equal(tools);
    const open = new Vetted(undefined, context());
    open.admit(tools);
    expect(open.admit([remote("z")]).map(({ name }) => name)).to.deep.equal(["z"]);
  });
});
