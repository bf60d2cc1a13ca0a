// npx vitest run examples/testing/vitest.test.ts
import { say, testVenturi } from "venturi/testing";
import { expect, test } from "vitest";
import { order, support } from "../library/shop.ts";

test("support looks an order up before it answers", async () => {
  await using venturi = await testVenturi({
    agents: [support],
    script: [[say.call(order, { number: "A-17" })], ["It is on its way."]],
  });
  const result = await venturi.run(support, "Where is A-17?", { context: { userId: "u1" } });
  expect(result.text).toBe("It is on its way.");
  expect(JSON.stringify(venturi.requests[1]?.messages)).toContain("kettle");
});
