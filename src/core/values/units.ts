import { z } from "zod";

const milliseconds: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const bytes: Readonly<Record<string, number>> = {
  B: 1,
  kB: 1_000,
  MB: 1_000_000,
  GB: 1_000_000_000,
  KiB: 1_024,
  MiB: 1_048_576,
  GiB: 1_073_741_824,
};

/** A duration such as `250ms`, `30s`, `5m`, `2h`, `7d`, or a number of milliseconds; parsed to milliseconds. */
export const Duration = quantity(
  /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/,
  milliseconds,
  'a duration such as "250ms", "30s" or "5m"',
);

/** A size such as `512B`, `64KiB`, `4MiB`, `1GB`, or a number of bytes; parsed to bytes. */
export const Size = quantity(
  /^(\d+(?:\.\d+)?)(B|kB|MB|GB|KiB|MiB|GiB)?$/,
  bytes,
  'a size such as "512B", "64KiB" or "4MiB"',
);

function quantity(pattern: RegExp, units: Readonly<Record<string, number>>, what: string) {
  const error = `expected ${what}`;
  const parse = (text: string): number => {
    const [, amount, unit] = pattern.exec(text) ?? [];
    // A bare number as text, as `--set` and `${env:…}` give it, means what the number does.
    return Math.round(Number(amount) * (unit === undefined ? 1 : (units[unit] ?? Number.NaN)));
  };
  return z
    .union([z.number().nonnegative({ error }), z.string().regex(pattern, { error })], { error })
    .transform((value) => (typeof value === "number" ? value : parse(value)))
    .refine(Number.isFinite, { error }); // So many digits are infinite, which JSON cannot hold.
}
