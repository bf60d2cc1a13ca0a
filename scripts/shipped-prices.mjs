// Writes the module that holds config/prices.yaml; src/host/money/shipped-prices.d.ts says what is in it.
import { readFileSync, writeFileSync } from "node:fs";
import { parse } from "yaml";

export async function writePrices() {
  const { PriceList } = await import("../dist/src/core/model/prices.js");
  const prices = PriceList.parse(parse(readFileSync("config/prices.yaml", "utf8")));
  writeFileSync("dist/src/host/money/shipped-prices.js", `export const shippedPrices = ${JSON.stringify(prices)};\n`);
}

if (import.meta.main) await writePrices();
