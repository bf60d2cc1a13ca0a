import assert from "node:assert/strict";
import { testPluginContext } from "venturi/testing";
import plugin from "./index.ts";

describe("my-plugin", () => {
  it("finds the word however the text is cut", async () => {
    const guard = await plugin.create(plugin.options.parse({ word: "secret" }), testPluginContext({ name: "word" }));
    const text = "a secret, and sec";
    for (let cut = 0; cut <= text.length; cut++) {
      let seen = "";
      const scanner = guard.scanner?.({ plain: (piece) => (seen += piece), found: (_, rule) => (seen += `[${rule}]`) });
      scanner?.push(text.slice(0, cut));
      scanner?.push(text.slice(cut));
      scanner?.end();
      assert.equal(seen, "a [word], and sec");
    }
  });
});
