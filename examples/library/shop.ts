// The agents of a shop, shared by the programs in this folder.
import { agent, type ContextOf, context, openVenturi, sqlite, type ToolContext, tool } from "venturi";
import { z } from "zod";

const orders = new Map([
  ["A-17", { item: "kettle", state: "on its way" }],
  ["B-4", { item: "lamp", state: "delivered" }],
]);

/** Stored with each run: who asks. Rebuilt wherever the run is worked on: the connection to the orders. */
export const shop = context({
  stored: z.object({ userId: z.string() }),
  provide: ({ userId }) => ({ userId, orders }),
});
type Shop = ContextOf<typeof shop>;

export const order = tool({
  name: "order",
  description: "Looks up an order by its number",
  input: z.object({ number: z.string().describe("the order's number, such as A-17") }),
  effect: "pure",
  call: ({ number }, { context }: ToolContext<Shop>) => context.orders.get(number) ?? "there is no such order",
});

export const refund = tool({
  name: "refund",
  description: "Refunds an amount",
  input: z.object({ amount: z.number() }),
  approval: ({ amount }) => amount > 100 && `a refund of ${amount}`,
  call: ({ amount }, { context, idempotencyKey }: ToolContext<Shop>) => ({
    paid: amount,
    to: context.userId,
    idempotencyKey,
  }),
});

export const support = agent({
  name: "support",
  description: "Answers questions about orders",
  model: process.env.MODEL ?? "simulator/small",
  instructions: "You help the customers of a shop.",
  context: shop,
  tools: [order, refund],
});

/** One for the program, also when a framework loads this file again. */
export const openShop = () =>
  openVenturi({
    agents: [support],
    journal: sqlite(process.env.JOURNAL ?? "./data/shop.db"),
    shared: "shop",
    // Who a request is from: here by a header, in your program by its session.
    caller: (request) => {
      const id = request.headers.get("x-user");
      return id === null ? undefined : { id, context: { userId: id } };
    },
  });
