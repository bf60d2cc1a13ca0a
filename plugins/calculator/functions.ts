export const constants: Readonly<Record<string, number>> = { pi: Math.PI, e: Math.E, tau: 2 * Math.PI };

interface MathFunction {
  readonly min: number;
  readonly max: number;
  readonly apply: (values: readonly number[]) => number;
}

const one = (apply: (value: number) => number): MathFunction => ({
  min: 1,
  max: 1,
  apply: ([value = Number.NaN]) => apply(value),
});
const many = (apply: (...values: number[]) => number): MathFunction => ({
  min: 1,
  max: 100,
  apply: (values) => apply(...values),
});

export const functions: Readonly<Record<string, MathFunction>> = {
  abs: one(Math.abs),
  sqrt: one(Math.sqrt),
  cbrt: one(Math.cbrt),
  exp: one(Math.exp),
  ln: one(Math.log),
  log: { min: 1, max: 2, apply: ([value = Number.NaN, base]) => logarithm(value, base) },
  log2: one(Math.log2),
  log10: one(Math.log10),
  sin: one(Math.sin),
  cos: one(Math.cos),
  tan: one(Math.tan),
  asin: one(Math.asin),
  acos: one(Math.acos),
  atan: one(Math.atan),
  floor: one(Math.floor),
  ceil: one(Math.ceil),
  trunc: one(Math.trunc),
  sign: one(Math.sign),
  round: { min: 1, max: 2, apply: ([value = Number.NaN, digits = 0]) => round(value, digits) },
  min: many(Math.min),
  max: many(Math.max),
  sum: many((...values) => values.reduce((left, right) => left + right, 0)),
  mean: many((...values) => values.reduce((left, right) => left + right, 0) / values.length),
  hypot: many(Math.hypot),
};

export function factorial(value: number): number {
  if (!Number.isInteger(value) || value < 0) return Number.NaN;
  if (value > 170) return Number.POSITIVE_INFINITY;
  let product = 1;
  for (let factor = 2; factor <= value; factor++) product *= factor;
  return product;
}

const logarithm = (value: number, base: number | undefined): number =>
  base === undefined ? Math.log10(value) : Math.log(value) / Math.log(base);

function round(value: number, digits: number): number {
  if (!Number.isInteger(digits) || Math.abs(digits) > 15) return Number.NaN;
  const shifted = Number(`${value}e${digits}`);
  // A value already in exponent notation cannot be shifted as text; it has no digits left to round either.
  return Number.isNaN(shifted) ? value : Number(`${Math.round(shifted)}e${-digits}`);
}
