import type { Client } from "@modelcontextprotocol/client";
import { sleep } from "venturi/internal";
import type { Clock } from "venturi/plugin";

export interface Listening {
  readonly clock: Clock;
  readonly backoff: { readonly first: number; readonly most: number };
  readonly signal: AbortSignal;
  onClosed(): Promise<void>;
  /** Changes may have been missed between two streams. */
  onMissed(): void;
}

/** A server of 2026 announces changes on its own stream, which the library opens once. This opens it again. */
export async function keepListening(client: Client, listening: Listening): Promise<void> {
  const { clock, backoff, signal, onClosed, onMissed } = listening;
  let subscription = client.autoOpenedSubscription;
  let failures = 0;
  try {
    while (subscription !== undefined) {
      const since = clock.monotonic();
      if ((await subscription.closed) === "local" || signal.aborted) return;
      if (clock.monotonic() - since > backoff.most) failures = 0;
      await onClosed();
      for (subscription = undefined; subscription === undefined; failures++) {
        await sleep(clock, Math.min(backoff.most, backoff.first * 2 ** failures), signal);
        subscription = await client.listen({ toolsListChanged: true }, { signal }).catch(() => undefined);
      }
      onMissed();
    }
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
  }
}
