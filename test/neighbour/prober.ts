import { setTimeout as sleep } from "node:timers/promises";
import { parentPort } from "node:worker_threads";

/** The quiet tenant, in its own thread: small runs, one after the other, each timed. */
export interface Probe {
  readonly url: string;
  readonly key: string;
  readonly runs: number;
}
export interface Probed {
  readonly times: number[];
  readonly failed: string[];
}

/** What a caller would not wait for any longer, ms. */
const patience = 20_000;
const between = 5;

parentPort?.on("message", async ({ url, key, runs }: Probe) => {
  const probed: Probed = { times: [], failed: [] };
  const end = performance.now() + patience;
  for (let run = 0; run < runs && performance.now() < end; run++) {
    const start = performance.now();
    try {
      const response = await fetch(`${url}/v1/runs`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
        body: JSON.stringify({ agent: "quiet", input: "go" }),
        signal: AbortSignal.timeout(patience),
      });
      const body = (await response.json()) as { output?: string };
      if (body.output !== "Hello there.")
        probed.failed.push(`${response.status} ${JSON.stringify(body).slice(0, 200)}`);
    } catch (thrown) {
      probed.failed.push(String(thrown));
    }
    probed.times.push(performance.now() - start);
    await sleep(between);
  }
  parentPort?.postMessage(probed);
});
