/**
 * Tenant of shadow runs: replays of live runs on another model, for nobody to see. A list has them only when it names this
 * tenant, and no key may belong to it.
 */
export const shadowTenant = "(shadow)";
