import type { Bill } from "./spending.ts";

/** What all of a run's usage cost, which is what its channels report; undefined when a part of it is not known. */
export const costOfAll = ({ cost, totalCost, spent = [] }: Omit<Bill, "usage">): number | undefined =>
  spent.some(({ by }) => by === "tool") ? totalCost : cost;

/** Its costs alone, where they are known. */
export const costsOf = ({ cost, totalCost }: Omit<Bill, "usage">): Pick<Bill, "cost" | "totalCost"> => ({
  ...(cost === undefined ? {} : { cost }),
  ...(totalCost === undefined ? {} : { totalCost }),
});

/** A vendor's usage object with what it cost, in the place OpenRouter has it. */
export function withCost<Fields extends object>(usage: Fields, bill: Omit<Bill, "usage">): Fields & { cost?: number } {
  const cost = costOfAll(bill);
  return cost === undefined ? usage : { ...usage, cost };
}
