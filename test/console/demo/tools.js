/** The shop's tools, with a line in a file for each call that really ran. */
import { appendFileSync } from "node:fs";
import { findOrder as find, listOrders as list, refundOrder as refund } from "../../../config/examples/tools/orders.js";

const logged = (name, tool) => ({
  ...tool,
  async call(input, context) {
    appendFileSync(`${process.env.CONSOLE_DATA}/calls.log`, `${name} ${JSON.stringify(input)}\n`);
    await new Promise((resolve) => setTimeout(resolve, name === "find_order" ? 140 : 90));
    return await tool.call(input, context);
  },
});

export const findOrder = logged("find_order", find);
export const listOrders = logged("list_orders", list);
export const refundOrder = logged("refund_order", refund);
