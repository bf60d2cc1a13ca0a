import { expect } from "chai";
import { codes } from "../../src/core/errors/codes.ts";
import { fromJson, VenturiError, wrap } from "../../src/core/errors/errors.ts";

describe("VenturiError", () => {
  it("renders the chain of ops once each, then code and message", () => {
    const inner = new VenturiError("provider.stream", "rate_limited", "the provider asked for 20 s (anthropic, 429)");
    const outer = wrap("agent.run", wrap("agent.run", wrap("provider.stream", inner)));
    expect(String(outer)).to.equal(
      "agent.run: provider.stream: rate_limited: the provider asked for 20 s (anthropic, 429)",
    );
  });

  it("keeps the inner code and details when wrapped", () => {
    const outer = wrap("agent.run", new VenturiError("tool.call", "tool_timeout", "too slow", { details: { ms: 5 } }));
    expect(outer.code).to.equal("tool_timeout");
    expect(outer.toJSON()).to.deep.equal({
      op: "agent.run: tool.call",
      code: "tool_timeout",
      err: "too slow",
      details: { ms: 5 },
    });
  });

  it("never shows a cause or a stack in its JSON", () => {
    const error = wrap("journal.append", new Error("disk full"), "journal_failed");
    expect(JSON.parse(JSON.stringify(error))).to.deep.equal({
      op: "journal.append",
      code: "journal_failed",
      err: "disk full",
    });
  });

  it("comes back from its JSON with the same chain", () => {
    const error = wrap("agent.run", new VenturiError("tool.call", "tool_failed", "no"));
    expect(fromJson(error.toJSON()).toJSON()).to.deep.equal(error.toJSON());
  });

  it("derives status, exit status and retryability from the code", () => {
    for (const [code, facts] of Object.entries(codes)) {
      const error = new VenturiError("x.y", code as keyof typeof codes, "m");
      expect([error.status, error.exit, error.retryable]).to.deep.equal([facts.status, facts.exit, facts.retryable]);
    }
  });

  it("of another copy of the package is one all the same, with its code", async () => {
    const copy = (await import(
      `${"../../src/core/errors/errors.js"}?copy`
    )) as typeof import("../../src/core/errors/errors.ts"); // the same module, loaded twice
    const error = new copy.VenturiError("provider.stream", "rate_limited", "slow down", { details: { retryAfter: 2 } });
    expect(error).not.to.be.instanceOf(VenturiError);
    expect(VenturiError.isInstance(error)).to.equal(true);
    const outer = wrap("agent.run", error, "plugin_failed");
    expect([outer.code, outer.retryable, outer.details]).to.deep.equal(["rate_limited", true, { retryAfter: 2 }]);
    expect(outer.ops).to.deep.equal(["agent.run", "provider.stream"]);
  });

  it("is neither a look-alike nor one with a code that does not exist", () => {
    const lookAlike = { name: "VenturiError", op: "x", code: "rate_limited", message: "no" };
    const unknown = { [Symbol.for("venturi.error")]: true, code: "made_up" };
    for (const value of [lookAlike, unknown, null, undefined, "rate_limited"]) {
      expect(VenturiError.isInstance(value)).to.equal(false);
    }
  });
});
