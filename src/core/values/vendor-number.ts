/** More than any vendor counts in a request, and small enough that sums stay exact. */
const most = 1e12;

/** A count, a duration or another amount as someone else's server gave it; undefined unless it is a number that can be one. */
export const vendorNumber = (value: unknown): number | undefined =>
  typeof value === "number" && value >= 0 && value <= most ? value : undefined;
