import type { Dispatcher } from "undici";
import { VenturiError } from "../../core/errors.ts";
import { type Egress, portOf } from "./egress.ts";

export interface EgressFetch {
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

/**
 * `fetch` within an egress: every request is checked, and every connection goes to an address that was checked. Redirects are
 * errors, since they would lead to where nobody looked.
 */
export function egressFetch(egress: Egress): EgressFetch {
  let agents: Promise<{ guarded: Dispatcher; open: Dispatcher }> | undefined;
  const open = async () => {
    const { Agent } = await import("undici");
    return {
      guarded: new Agent({ connect: { lookup: egress.lookup(["public"]) } }),
      open: new Agent({ connect: { lookup: egress.lookup(["public", "private"]) } }),
    };
  };
  return {
    async fetch(url, init) {
      const target = new URL(url);
      egress.check(target);
      agents ??= open();
      const { guarded, open: other } = await agents;
      const { fetch } = await import("undici");
      const dispatcher = egress.mayBePrivate(target) ? other : guarded;
      try {
        // The types of undici's fetch and of Node's, which is the same one, differ in name only.
        return (await fetch(target, { ...(init as object), redirect: "error", dispatcher })) as unknown as Response;
      } catch (thrown) {
        throw thrown instanceof Error && VenturiError.isInstance(thrown.cause) ? thrown.cause : thrown;
      }
    },
    async close() {
      const both = await agents;
      await Promise.allSettled([both?.guarded.destroy(), both?.open.destroy()]);
    },
  };
}

/** A host that the config itself names by its address, or as this machine, is meant to be there. */
export const namesPrivate = (url: URL): string[] =>
  /^(?:localhost|[\d.]+|\[[\da-f:.]+\])$/i.test(url.hostname) ? [`${url.hostname}:${portOf(url)}`] : [];
