/** The shop's orders as tools. A real one asks a database; the shape is the same. */
import { z } from "zod";

const orders = new Map([
  ["A-17", { order: "A-17", customer: "Ada", item: "a brass telescope", amount: 240, state: "on its way" }],
  ["A-18", { order: "A-18", customer: "Ada", item: "a star chart", amount: 12, state: "delivered" }],
  ["B-3", { order: "B-3", customer: "Ben", item: "a compass", amount: 35, state: "packed" }],
]);
/** Refunds by idempotency key: the same call made again after a crash pays once. */
const refunds = new Map();

export const findOrder = {
  description: "Looks an order up by its number",
  input: z.strictObject({ order: z.string().describe("Order number such as A-17") }),
  effect: "pure",
  call: ({ order }) => found(order),
};

export const listOrders = {
  description: "Lists the orders of a customer",
  input: z.strictObject({ customer: z.string().describe("The customer's name") }),
  effect: "pure",
  call: ({ customer }) => [...orders.values()].filter((order) => order.customer === customer),
};

export const refundOrder = {
  description: "Refunds an amount of an order to the customer",
  input: z.strictObject({
    order: z.string().describe("Order number"),
    amount: z.number().positive().describe("Amount to refund"),
  }),
  effect: "idempotent",
  call({ order, amount }, { idempotencyKey }) {
    if (amount > found(order).amount) throw new Error(`order ${order} cost only ${found(order).amount}`);
    if (!refunds.has(idempotencyKey)) refunds.set(idempotencyKey, { order, refunded: amount });
    return refunds.get(idempotencyKey);
  },
};

function found(number) {
  const order = orders.get(number);
  if (order === undefined) throw new Error(`there is no order ${number}; ask the customer for the number`);
  return order;
}
