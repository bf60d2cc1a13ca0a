import type { Price, PriceOf } from "../../core/model/prices.ts";
import type { Log } from "../../core/ports/log.ts";
import type { Config } from "../config/load.ts";
import { splitModel } from "../config/references.ts";
import { shippedPrices } from "./shipped-prices.js";

/** Callers may name models, so the cache is bounded. */
const mostNames = 5_000;
const said = new Set<string>();

/**
 * The price of each model: the configuration's, by name or else by the longest pattern, and otherwise the shipped one of the
 * provider's host. A model without a price is logged once per process.
 */
export function priceBook(config: Pick<Config, "prices" | "providers">, log?: Log): PriceOf {
  const known = new Map<string, Price | undefined>();
  return (name) => {
    if (known.has(name)) return known.get(name);
    const price = ownPrice(config, name) ?? shippedPrice(config, name);
    if (known.size < mostNames) known.set(name, price);
    if (price === undefined && !said.has(name) && said.size < mostNames) {
      said.add(name);
      log?.info("no price for this model; its cost is left out", { model: name, set: `prices: { ${name}: … }` });
    }
    return price;
  };
}

function ownPrice({ prices }: Pick<Config, "prices">, name: string): Price | undefined {
  if (Object.hasOwn(prices, name)) return prices[name];
  const patterns = Object.keys(prices).filter((pattern) => pattern.includes("*") && matches(pattern, name));
  const [longest] = patterns.sort((left, right) => right.length - left.length);
  return longest === undefined ? undefined : prices[longest];
}

function shippedPrice({ providers }: Pick<Config, "providers">, name: string): Price | undefined {
  const { provider, model } = splitModel(name);
  const host = hostOf(providers[provider]?.options);
  const vendor = host === undefined ? undefined : shippedPrices.vendors.find((each) => each.host === host);
  if (vendor === undefined) return undefined;
  const plain = model.replace(/-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$/, "");
  return [model, plain].filter((each) => Object.hasOwn(vendor.models, each)).map((each) => vendor.models[each])[0];
}

/** The host, because a gateway or local server may serve a model of the same name at another price. */
function hostOf(options: unknown): string | undefined {
  const url = typeof options === "object" && options !== null && "baseUrl" in options ? String(options.baseUrl) : "";
  return URL.canParse(url) ? new URL(url).host : undefined;
}

/** `*` stands for any characters. In linear time, since names come from callers. */
function matches(pattern: string, name: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  if (!name.startsWith(first)) return false;
  let at = first.length;
  const last = rest.pop() ?? "";
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return name.length - at >= last.length && name.endsWith(last);
}
