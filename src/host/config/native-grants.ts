import { z } from "zod";

const names = () =>
  z.union([z.literal("all"), z.array(z.string().min(1))], { error: "write a list of names, or all" }).exactOptional();

/** Vendor fields that callers may set, beyond what the vendor's plugin allows everyone. */
export const nativeGrants = {
  native: names().describe(
    "Further fields of the vendor's own request that a client of the same wire may set, such as `user` or `service_tier`, and values of `anthropic-beta`; or `all`. Fields that usage is counted by stay closed.",
  ),
  vendorTools: names().describe(
    "Tools executed by the vendor that a client may offer: `web_search`, `code_interpreter`, `mcp` (any server), …; or `all`.",
  ),
};

export const KeyOverrides = z.strictObject(nativeGrants);
