import { expect } from "chai";
import { redactor } from "../../src/core/redact.ts";

describe("redactor", () => {
  it("replaces each secret by its name, a longer one before one that is part of it", () => {
    const redact = redactor({ SHORT: "secret", LONG: "secret-and-more", UNSET: undefined });
    expect(redact("a secret-and-more, a secret, a secre")).to.equal("a [LONG], a [SHORT], a secre");
  });

  it("leaves values alone that are too short to be secrets", () => {
    expect(redactor({ ONE: "1", EMPTY: "" })("1 + 1")).to.equal("1 + 1");
  });
});
