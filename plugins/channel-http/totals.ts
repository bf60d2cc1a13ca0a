import { named, percentile } from "venturi/internal";
import type { Counted, RunSums } from "venturi/plugin";
import { z } from "zod";

const sums = {
  runs: z.number().int(),
  failed: z.number().int(),
  cancelled: z.number().int(),
  p50: z.number().describe("ms; of more than 200 runs at most 5 % off"),
  p95: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  cost: z.number().exactOptional().describe("USD, where prices are known"),
};
const Sums = z.object(sums);
type Sums = z.output<typeof Sums>;

/** The single definition, from which the client's and the console's types are made. */
export const TotalsView = named(
  "TotalsView",
  z.object({
    all: Sums,
    groups: z.array(z.object({ name: z.string(), ...sums })),
    times: z.array(z.object({ at: z.number(), runs: z.number().int(), failed: z.number().int() })),
    complete: z.boolean().describe("false: only the newest 5,000 that fit were counted"),
  }),
);
type TotalsView = z.output<typeof TotalsView>;

export const totalsView = ({ all, groups, bars, counted }: Counted): TotalsView => ({
  all: viewOf(all),
  groups: groups.map((group) => ({ name: group.name, ...viewOf(group) })),
  times: [...bars],
  complete: counted === "all",
});

const viewOf = ({ spread, nanos, priced, runs, failed, cancelled, inputTokens, outputTokens }: RunSums): Sums => ({
  runs,
  failed,
  cancelled,
  p50: percentile(spread, 0.5),
  p95: percentile(spread, 0.95),
  inputTokens,
  outputTokens,
  ...(priced === 0 ? {} : { cost: nanos / 1e9 }),
});
