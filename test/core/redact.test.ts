import { expect } from "chai";
import { headerSecrets, redactor } from "../../src/core/values/redact.ts";

describe("redactor", () => {
  it("replaces each secret by its name, a longer one before one that is part of it", () => {
    const redact = redactor({ SHORT: "hunter2!", LONG: "hunter2!-and-more", UNSET: undefined });
    expect(redact("a hunter2!-and-more, a hunter2!, a hunter2")).to.equal("a [LONG], a [SHORT], a hunter2");
  });

  it("masks whole secrets: a short one inside a longer word is another word, a long one is masked wherever it stands", () => {
    const redact = redactor({ KEY: "summer24", TOKEN: "sk-0123456789abcdef" });
    expect(redact("midsummer24 summer24-ish (summer24)")).to.equal("midsummer24 summer24-ish ([KEY])");
    expect(redact("xsk-0123456789abcdefx")).to.equal("x[TOKEN]x");
  });

  it("masks a header's credential with and without its scheme, and of a header of several words only the whole", () => {
    const redact = redactor(headerSecrets({ authorization: "Bearer sk-0123456789", "x-title": "Acme Support Desk" }));
    expect(redact("Bearer sk-0123456789, sk-0123456789")).to.equal("[authorization], [authorization value]");
    expect(redact("Acme Support Desk, ask the Support Desk")).to.equal("[x-title], ask the Support Desk");
  });

  it("leaves values alone that are too short to be secrets", () => {
    expect(redactor({ ONE: "1", EMPTY: "", WORD: "secret" })("1 + 1, no secret")).to.equal("1 + 1, no secret");
  });
});
