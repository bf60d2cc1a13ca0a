import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { stringify } from "yaml";
import { openService, type Service } from "../../src/host/service.ts";
import { config, eventually, json, play, type Seen } from "./scene.ts";

/** Run by `npm run test:backends`: a Prometheus that scrapes the given address every second. */
const prometheus = process.env.PROMETHEUS_URL ?? "";
const scraped = process.env.SCRAPED_ADDRESS ?? "";

describe("a service scraped by Prometheus", () => {
  let service: Service;
  let folder: string;
  let good: Seen;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "venturi-prometheus-"));
    const configFile = join(folder, "venturi.yaml");
    await writeFile(configFile, stringify({ ...config(""), server: { listen: scraped } }));
    service = await openService({ configFile });
    good = await play(service.host, "assistant");
    await play(service.host, "failed");
  });
  after(async () => {
    await service.drain();
    await rm(folder, { recursive: true });
  });

  const query = (text: string) =>
    eventually(text, async () => {
      const answer = (await json(`${prometheus}/api/v1/query?${new URLSearchParams({ query: text })}`)) as {
        data: { result: { metric: Record<string, string>; value: [number, string] }[] };
      };
      return answer.data.result.length > 0 ? answer.data.result : undefined;
    });

  it("is up, and its runs, generations and process are there", async () => {
    expect((await query('up{job="venturi"} == 1')).length).to.equal(1);
    const runs = await query("gen_ai_invoke_agent_duration_seconds_count");
    expect(runs.map(({ metric }) => [metric.gen_ai_agent_name, metric.error_type])).to.deep.include.members([
      ["assistant", undefined],
      ["failed", "llm_error"],
    ]);
    for (const name of [
      "nodejs_eventloop_delay_p99_seconds",
      "nodejs_eventloop_utilization_ratio",
      "v8js_gc_duration_seconds_count",
      "process_cpu_time_seconds_total",
      "process_memory_usage_bytes",
    ]) {
      expect((await query(name)).length, name).to.be.above(0);
    }
  });

  it("an exemplar leads from a bucket to the trace", async () => {
    const found = await eventually("an exemplar", async () => {
      const now = Date.now() / 1_000;
      const asked = { query: "gen_ai_invoke_agent_duration_seconds_bucket", start: `${now - 600}`, end: `${now + 60}` };
      const answer = (await json(`${prometheus}/api/v1/query_exemplars?${new URLSearchParams(asked)}`)) as {
        data: { exemplars: { labels: { trace_id: string } }[] }[];
      };
      const traces = answer.data.flatMap(({ exemplars }) => exemplars.map(({ labels }) => labels.trace_id));
      return traces.length > 0 ? traces : undefined;
    });
    expect(found).to.include(good.trace);
    console.log(`      exemplar of trace ${good.trace} in Prometheus`);
  });

  it("the alert rules are loaded and can be evaluated", async () => {
    const rules = await eventually("evaluated rules", async () => {
      const answer = (await json(`${prometheus}/api/v1/rules`)) as {
        data: { groups: { rules: { name: string; health: string; lastError?: string }[] }[] };
      };
      const all = answer.data.groups.flatMap((group) => group.rules);
      return all.length > 0 && all.every(({ health }) => health !== "unknown") ? all : undefined;
    });
    expect(rules.filter(({ health }) => health !== "ok")).to.deep.equal([]);
  });
});
