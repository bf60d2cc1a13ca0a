import { expect } from "chai";
import { z } from "zod";
import { complaintsOf } from "../../src/core/errors/complaints.ts";
import { didYouMean } from "../../src/core/values/suggest.ts";

const about = (schema: z.ZodType, value: unknown) => {
  const { error } = schema.safeParse(value);
  return error === undefined ? [] : complaintsOf(schema, value, error);
};

describe("complaints about a value", () => {
  const schema = z.strictObject({ agent: z.string(), list: z.array(z.number()).optional() });

  it("are few, however much is wrong with it", () => {
    const keys = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`key${index}`, index]));
    expect(about(schema, { agent: "a", ...keys })).to.have.length(20);
    expect(about(schema, { agent: "a", list: Array(5_000).fill("x") })).to.have.length(20);
    const parts = z.array(
      z.union([z.strictObject({ type: z.literal("a") }), z.strictObject({ type: z.literal("b") })]),
    );
    expect(about(parts, Array(5_000).fill({ type: "c" }))).to.have.length(20);
  });

  it("show and compare the beginning of a long key", () => {
    const [first] = about(schema, { agent: "a", ["agent".repeat(100_000)]: 1 });
    expect(first?.path).to.have.length(200);
    expect(didYouMean("agent".repeat(100_000), ["agent"])).to.equal("");
  });

  it("name the key that was meant", () => {
    expect(about(schema, { agnet: "a" })[0]).to.deep.equal({
      path: "agnet",
      message: 'unknown key (did you mean "agent"?)',
    });
  });

  it("take an object in place of one of some words as it is, whatever its keys are called", () => {
    const words = z.object({
      word: z.enum(["yes", "no"]),
      kind: z.discriminatedUnion("type", [z.object({ type: z.literal("a") })]),
    });
    const hostile = { toString: 1, valueOf: 2 };
    expect(about(words, { word: hostile, kind: { type: hostile } })[0]?.message).to.equal("expected one of yes, no");
  });
});
