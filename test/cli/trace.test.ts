import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { spanTree } from "../../src/cli/span-tree.ts";
import { waterfall } from "../../src/cli/waterfall.ts";
import { silentLog } from "../../src/core/ports/log.ts";
import { createTelemetry, defaultSettings } from "../../src/telemetry/index.ts";
import { echo, wholeRun, wireProvider } from "../telemetry/drive.ts";
import { venturi } from "./venturi.ts";

const span = (name: string, parts: { id: string; parent?: string; from: number; to: number; more?: object }) => ({
  traceId: "t1",
  spanId: parts.id,
  ...(parts.parent === undefined ? {} : { parentSpanId: parts.parent }),
  name,
  startTimeUnixNano: String(1_000_000_000n + BigInt(parts.from) * 1_000_000n),
  endTimeUnixNano: String(1_000_000_000n + BigInt(parts.to) * 1_000_000n),
  ...parts.more,
});
const attribute = (key: string, value: object) => ({ key, value });

const document = {
  resourceSpans: [
    {
      scopeSpans: [
        {
          spans: [
            span("invoke_agent a", {
              id: "1",
              from: 0,
              to: 100,
              more: {
                attributes: [
                  attribute("venturi.timing.tool", { intValue: 25 }),
                  attribute("venturi.timing.providerWait", { doubleValue: 75 }),
                ],
              },
            }),
            span("venturi.chunk", { id: "5", parent: "3", from: 20, to: 21 }),
            span("venturi.chunk", { id: "6", parent: "3", from: 40, to: 41 }),
            span("venturi.round", {
              id: "2",
              parent: "1",
              from: 0,
              to: 100,
              more: { attributes: [attribute("venturi.round.index", { intValue: 1 })] },
            }),
            span("chat m", { id: "3", parent: "2", from: 0, to: 50 }),
            span("execute_tool t", {
              id: "4",
              parent: "2",
              from: 50,
              to: 75,
              more: {
                status: { code: 2 },
                attributes: [attribute("error.type", { stringValue: "tool_failed" })],
              },
            }),
          ],
        },
      ],
    },
  ],
};

describe("venturi trace", () => {
  it("draws each span where and as long as it was, many chunks in one line, and where the time went", () => {
    const text = waterfall(spanTree(document), { width: 60, color: false, everything: false });
    expect(text.split("\n")).to.deep.equal([
      "                                     0                100 ms",
      "invoke_agent a               100 ms  ███████████████████████",
      "└ round 1                    100 ms  ███████████████████████",
      "  ├ chat m                  50.0 ms  ███████████▌",
      "  │ └ 2 × chunk              2.0 ms      ·    ·",
      "  └ execute_tool t ✗ to…    25.0 ms             █████▊",
      "",
      "where the 100 ms went",
      "  providerWait       75.0 ms  75 %  ███████████████",
      "  tool               25.0 ms  25 %  █████",
      "",
    ]);
  });

  it("leaves out readers that came after the run's end", () => {
    const [{ scopeSpans: [{ spans: ran = [] } = {}] = [] } = {}] = document.resourceSpans;
    const watching = span("venturi.deliver cli", { id: "7", parent: "1", from: 1, to: 101 });
    const later = span("venturi.deliver why", { id: "8", parent: "1", from: 60_000, to: 60_001 });
    const tree = spanTree({ resourceSpans: [{ scopeSpans: [{ spans: [...ran, watching, later] }] }] });
    expect(tree.duration).to.equal(101);
    expect(tree.roots[0]?.children.map(({ id }) => id)).to.deep.equal(["2", "7"]);
    expect(spanTree({ resourceSpans: [{ scopeSpans: [{ spans: [later] }] }] }).roots).to.have.length(1);
  });

  it("draws and names what stands out: a slow commit, silence before a chunk, a reader that does not read", () => {
    const told = (key: string, value: number) => ({ attributes: [attribute(key, { doubleValue: value })] });
    const spans = [
      span("invoke_agent a", { id: "1", from: 0, to: 2_000 }),
      span("venturi.deliver http", {
        id: "2",
        parent: "1",
        from: 0,
        to: 2_000,
        more: told("venturi.deliver.stalled_ms", 1_500),
      }),
      span("venturi.deliver cli", {
        id: "3",
        parent: "1",
        from: 0,
        to: 2_000,
        more: told("venturi.deliver.stalled_ms", 2),
      }),
      ...[0, 1, 2].map((n) => span("venturi.journal.append", { id: `a${n}`, parent: "1", from: n, to: n + 1 })),
      span("venturi.journal.append", { id: "slow", parent: "1", from: 1_000, to: 1_900 }),
      span("venturi.stream", { id: "s", parent: "1", from: 100, to: 1_200, more: told("venturi.chunks.total", 50) }),
      ...[100, 110, 1_150].map((at, n) =>
        span("venturi.chunk", {
          id: `c${n}`,
          parent: "s",
          from: at,
          to: at,
          more: told("venturi.chunk.gap_ms", n === 0 ? 0 : 10),
        }),
      ),
      span("venturi.chunk", {
        id: "late",
        parent: "s",
        from: 1_140,
        to: 1_140,
        more: {
          attributes: [
            attribute("venturi.chunk.gap_ms", { doubleValue: 1_030 }),
            attribute("venturi.chunk.index", { intValue: 47 }),
          ],
        },
      }),
    ];
    const tree = spanTree({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
    const lines = waterfall(tree, { width: 100, color: false, everything: false }).split("\n");
    const line = (text: string) => lines.find((each) => each.includes(text)) ?? "";
    expect(line("deliver http")).to.match(/deliver http \(stalled 1500 ms\) /);
    expect(line("deliver cli")).to.not.include("stalled");
    expect(line("3 × journal.append")).to.match(/3\.0 ms/);
    expect(line("journal.append (slow)")).to.match(/900 ms +█{15,}/);
    expect(line("stream")).to.include("stream (46 chunks not kept)");
    expect(line("3 × chunk")).to.not.equal("");
    expect(line("chunk 47 (silence before)")).to.match(/1030 ms +░{20,}$/);
    const red = waterfall(tree, { width: 100, color: true, everything: false }).split("\n");
    expect(red.find((each) => each.includes("journal.append (slow)"))).to.include("\u001b[31m");
  });

  it("draws a line for each chunk when asked, and failures in red on a terminal", () => {
    const text = waterfall(spanTree(document), { width: 100, color: true, everything: true });
    expect(text.match(/chunk/g)).to.have.length(2);
    expect(text.split("\n").find((line) => line.includes("✗ tool_failed"))).to.include("\u001b[31m");
  });

  describe("against a service", () => {
    let server: Server;
    let trace: unknown;
    let url: string;
    before(async () => {
      const telemetry = await createTelemetry(defaultSettings, { log: silentLog });
      const provider = telemetry.provider("demo", "openai", wireProvider({ chunks: 5 }));
      await wholeRun(telemetry, "run-1", { provider, tool: telemetry.tool(echo) });
      trace = telemetry.trace("run-1");
      await telemetry.close();
      server = createServer((request, response) => {
        const allowed = request.headers.authorization === "Bearer k";
        const found = request.url === "/v1/runs/run-1/trace";
        response.statusCode = !allowed ? 401 : found ? 200 : 404;
        const code = allowed ? "not_found" : "unauthorized";
        response.end(
          JSON.stringify(allowed && found ? trace : { error: { op: "run.trace", code, err: `it is ${code}` } }),
        );
      }).listen(0, "127.0.0.1");
      await once(server, "listening");
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
    after(() => server.close());

    it("prints the run's waterfall, or its spans as JSON", async () => {
      const drawn = await venturi(["trace", "run-1", "--url", url, "--key", "k"]);
      expect(drawn.out).to.match(/invoke_agent assistant[\s\S]*5 × chunk[\s\S]*execute_tool echo \(early\)/);
      expect(drawn.out).to.match(/where the [\d.]+ m?s went/);
      const json = await venturi(["trace", "run-1", "--url", url, "--key", "k", "--json"]);
      expect(JSON.parse(json.out)).to.deep.equal(trace);
    });

    it("tells the service's refusal; a run that it does not have, or no service, is left to the journal", async () => {
      const refused = await venturi(["trace", "run-1", "--url", url, "--key", "wrong"]);
      expect([refused.exit, refused.err]).to.deep.equal([
        1,
        "cli.run: cli.trace: cli.ask: unauthorized: it is unauthorized\n",
      ]);
      const missing = await venturi(["trace", "run-2", "--url", url, "--key", "k"]);
      expect(missing.exit).to.equal(1);
      expect(missing.err).to.match(/not_found: there is no run "run-2" in the journal; `venturi runs` lists them\n$/);
      const closed = await venturi(["trace", "run-1", "--url", "http://127.0.0.1:1"]);
      expect(closed.exit).to.equal(1);
      expect(closed.err).to.match(/not_found: there is no run "run-1" in the journal; `venturi runs` lists them\n$/);
    });
  });
});
