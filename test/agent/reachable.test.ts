import { expect } from "chai";
import { checkCondition } from "../../src/agent/tools/condition.ts";

const price = {
  type: "object",
  properties: { price: { type: "number" }, tags: { type: "array", items: { type: "string" } } },
};
const pay = {
  name: "pay",
  parameters: { type: "object", properties: { body: price, id: { type: "string" } }, additionalProperties: false },
};
const refused = (when: string, ...tools: { name: string; parameters: unknown }[]): string => {
  try {
    checkCondition(when, tools.length === 0 ? [pay] : tools);
  } catch (thrown) {
    return (thrown as Error).message;
  }
  return "";
};

describe("a condition on a tool's arguments", () => {
  it("is refused for an argument that the tool does not have, with those that it has", () => {
    expect(refused("has(args.price) && args.price > 100")).to.equal(
      'the condition `has(args.price) && args.price > 100` can never hold as meant: the tool "pay" has no argument args.price; there are args.body.price, args.body.tags, args.id',
    );
    for (const when of [
      "price > 100",
      'args["price"] > 1',
      "has(args.body.cost)",
      "args.id.length > 3",
      "args.body.price.amount > 3",
      'id == "x" || has(args.prise)',
      "args.body.tags.exists(tag, tag == args.kind)",
    ])
      expect(refused(when), when).to.include("can never hold");
  });

  it("is accepted for what a schema elsewhere may allow: a reference out of the document is not looked up in it", () => {
    const parameters = { $ref: "./properties/body", properties: { body: { type: "string" } } };
    expect(refused("args.price > 1", { name: "pay", parameters })).to.equal("");
  });

  it("is accepted for arguments that may exist", () => {
    for (const when of [
      "has(args.body.price) && args.body.price > 100",
      "body.price > 100",
      'args["body"]["price"] > 100',
      'args.body.tags.exists(tag, tag == "x")',
      "args.body.tags.all(t, t.size() > 2)",
      'id.startsWith("a")',
      "size(args) > 1",
      "true",
    ])
      expect(refused(when), when).to.equal("");
  });

  it("follows references, alternatives and open objects, and any tool of several", () => {
    const named = {
      name: "named",
      parameters: {
        type: "object",
        properties: { body: { $ref: "#/$defs/Payment" }, either: { anyOf: [{ type: "string" }, price] } },
        $defs: { Payment: { allOf: [price, { type: "object", properties: { to: { type: "string" } } }] } },
      },
    };
    for (const when of ["body.price > 1", 'body.to == "x"', "either.price > 1"])
      expect(refused(when, named), when).to.equal("");
    expect(refused("body.from == 1", named)).to.include("can never hold");
    const loop = { name: "loop", parameters: { $ref: "#" } };
    expect(refused("x > 1", loop)).to.equal("");
    for (const parameters of [
      { type: "object" },
      {},
      { type: "object", properties: { a: {} }, additionalProperties: true },
      { type: "object", properties: { a: {} }, patternProperties: { "^x": {} } },
    ])
      expect(refused("x > 1", { name: "open", parameters })).to.equal("");
    expect(
      refused("price > 1", { name: "none", parameters: { type: "object", additionalProperties: false } }),
    ).to.include("can never");
    expect(refused("body.price > 1", { name: "list", parameters: { type: "object", properties: {} } }, pay)).to.equal(
      "",
    );
    expect(refused("prize > 1", { name: "list", parameters: { type: "object", properties: {} } }, pay)).to.include(
      "none of its tools",
    );
  });
});
