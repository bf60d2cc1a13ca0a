/** Asks a replica every 50 ms whether it is ready, and remembers for how long it was not. */
export function watchReadiness(url: string, signal: AbortSignal): { readonly unready: number[]; ready(): boolean } {
  const unready: number[] = [];
  let since: number | undefined;
  let ready = true;
  const look = async () => {
    while (!signal.aborted) {
      const answer = await fetch(`${url}/readyz`).catch(() => undefined);
      if (signal.aborted) return;
      await answer?.body?.cancel();
      ready = answer?.status === 200;
      if (!ready) since ??= performance.now();
      else if (since !== undefined) {
        unready.push(secondsSince(since));
        since = undefined;
      }
      await pause(50);
    }
  };
  look();
  return { unready, ready: () => ready };
}

/** Starts a long run at a replica and reads it to its end over one connection; answers with its longest silence. */
export async function longestSilence(url: string): Promise<number> {
  const answer = await fetch(`${url}/v1/runs`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify({ agent: "shop", input: { text: "story" } }),
  });
  if (!answer.ok || answer.body === null) throw new Error(`the run was not taken: ${answer.status}`);
  let last = performance.now();
  let longest = 0;
  let tail = "";
  const decoder = new TextDecoder();
  for await (const bytes of answer.body) {
    const text = decoder.decode(bytes, { stream: true });
    tail = (tail + text).slice(-2_000);
    if (!text.includes("id: ")) continue; // heartbeats say nothing
    longest = Math.max(longest, secondsSince(last));
    last = performance.now();
  }
  if (!tail.includes('"run.finished"')) throw new Error(`the run did not finish over its one connection: ${tail}`);
  return longest;
}

const secondsSince = (from: number): number => Math.round((performance.now() - from) / 100) / 10;
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
