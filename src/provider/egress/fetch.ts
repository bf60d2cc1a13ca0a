import type { Dispatcher } from "undici";
import { VenturiError } from "../../core/errors/errors.ts";
import { type Egress, portOf } from "./egress.ts";

export interface EgressFetch {
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

/**
 * `fetch` restricted by an egress policy: every request is checked, and every connection goes to a checked address. Redirects
 * are errors, since their target was not checked.
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
        // undici's fetch and Node's are the same function with differently named types.
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

/** If the configured host is a private address or localhost, that destination is intended. */
export const namesPrivate = (url: URL): string[] =>
  /^(?:localhost|[\d.]+|\[[\da-f:.]+\])$/i.test(url.hostname) ? [`${url.hostname}:${portOf(url)}`] : [];
