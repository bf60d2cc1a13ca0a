import type { PriceList } from "../../core/model/prices.ts";

/** config/prices.yaml, which the build writes beside this: reading YAML takes 50 ms, which the first run of a service would wait for. */
export declare const shippedPrices: PriceList;
