// npx mocha examples/testing/mocha.test.ts
import { strict as assert } from "node:assert";
import { say, type TestVenturi, testVenturi } from "venturi/testing";
import { order, support } from "../library/shop.ts";

describe("support", () => {
  let venturi: TestVenturi;
  afterEach(() => venturi.close());

  it("looks an order up before it answers", async () => {
    venturi = await testVenturi({
      agents: [support],
      script: [[say.call(order, { number: "B-4" })], ["Delivered."]],
    });
    const { text } = await venturi.run(support, "Where is B-4?", { context: { userId: "u1" } });
    assert.equal(text, "Delivered.");
  });

  it("fails with the provider's error", async () => {
    venturi = await testVenturi({ agents: [support], script: [[say.fail("llm_error", "the model is gone")]] });
    await assert.rejects(venturi.run(support, "hello", { context: { userId: "u1" } }));
  });
});
