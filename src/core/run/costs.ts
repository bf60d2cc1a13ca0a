import type { Bill } from "./spending.ts";

/** Total cost of a run's usage as channels report it; undefined when part of it is unknown. */
export const costOfAll = ({ cost, totalCost, spent = [] }: Omit<Bill, "usage">): number | undefined =>
  spent.some(({ by }) => by === "tool") ? totalCost : cost;

/** Only the costs, where known. */
export const costsOf = ({ cost, totalCost }: Omit<Bill, "usage">): Pick<Bill, "cost" | "totalCost"> => ({
  ...(cost === undefined ? {} : { cost }),
  ...(totalCost === undefined ? {} : { totalCost }),
});

/** Adds the cost to a vendor's usage object, in OpenRouter's place for it. */
export function withCost<Fields extends object>(usage: Fields, bill: Omit<Bill, "usage">): Fields & { cost?: number } {
  const cost = costOfAll(bill);
  return cost === undefined ? usage : { ...usage, cost };
}
