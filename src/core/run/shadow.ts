/**
 * Tenant of shadow runs: hidden repetitions of live runs on another model. Lists include them only when they name this tenant, and no key
 * may belong to it.
 */
export const shadowTenant = "(shadow)";
