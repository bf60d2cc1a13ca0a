/** More than any vendor counts per request, and small enough that sums stay exact. */
const most = 1e12;

/** A count, duration or other amount reported by someone else's server; undefined if it is not a plausible number. */
export const vendorNumber = (value: unknown): number | undefined =>
  typeof value === "number" && value >= 0 && value <= most ? value : undefined;
