// node --test examples/testing/node-test.test.ts
import assert from "node:assert/strict";
import { test } from "node:test";
import { say, testVenturi, toolContext } from "venturi/testing";
import { order, refund, support } from "../library/shop.ts";

test("a tool by itself", async () => {
  const orders = new Map([["C-1", { item: "chair", state: "packed" }]]);
  assert.deepEqual(await order.call({ number: "C-1" }, toolContext({ userId: "u1", orders })), {
    item: "chair",
    state: "packed",
  });
});

test("support looks an order up before it answers", async () => {
  await using venturi = await testVenturi({
    agents: [support],
    script: [["Let me look. ", say.call(order, { number: "A-17" })], ["It is on its way."]],
  });
  const result = await venturi.run(support, "Where is A-17?", { context: { userId: "u1" } });
  assert.equal(result.text, "Let me look. It is on its way.");
  assert.match(JSON.stringify(venturi.requests[1]?.messages), /kettle/);
  venturi.assertUsed();
});

test("a large refund asks first, and a refusal reaches the model", async () => {
  await using venturi = await testVenturi({
    agents: [support],
    script: [[say.call(refund, { amount: 500 })], ["I may not refund that."]],
  });
  const asked: unknown[] = [];
  await venturi.run(support, "Refund 500", {
    context: { userId: "u1" },
    onApproval: ({ name, reason }) => {
      asked.push([name, reason]);
      return { approved: false, reason: "too much" };
    },
  });
  assert.deepEqual(asked, [["refund", "a refund of 500"]]);
  assert.match(JSON.stringify(venturi.requests[1]?.messages), /too much/);
});
