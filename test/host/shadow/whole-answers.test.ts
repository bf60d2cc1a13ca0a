import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { silentLog } from "../../../src/core/ports/log.ts";
import { shadowTenant } from "../../../src/core/run/shadow.ts";
import { openHost } from "../../../src/host/open.ts";

interface Asked {
  readonly model: string;
  readonly stream: boolean;
}

/** A model over HTTP that streams, or answers whole, as it is asked. */
async function vendor(asked: Asked[]): Promise<Server> {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece: Buffer) => {
      body += String(piece);
    });
    request.on("end", () => {
      const { model, stream = false } = JSON.parse(body) as { model: string; stream?: boolean };
      asked.push({ model, stream });
      const words = ["It ", "is ", "sunny."];
      const choice = (part: object, finish: string | null) => ({
        id: "1",
        choices: [{ index: 0, ...part, finish_reason: finish }],
      });
      const usage = { prompt_tokens: 9, completion_tokens: 3 };
      if (!stream) {
        response.setHeader("content-type", "application/json");
        const message = { role: "assistant", content: words.join("") };
        return response.end(JSON.stringify({ ...choice({ message }, "stop"), usage }));
      }
      response.setHeader("content-type", "text/event-stream");
      const chunks = [
        ...words.map((content) => choice({ delta: { content } }, null)),
        choice({ delta: {} }, "stop"),
        { id: "1", choices: [], usage },
      ];
      for (const chunk of chunks) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
      return response.end("data: [DONE]\n\n");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

describe("how a shadow asks its model", () => {
  const cases = [
    { name: "for complete answers: one event in place of one per token", shadow: { model: "up/b" }, stream: false },
    { name: "for those of a split too", shadow: { model: "both" }, stream: false },
    { name: "for streams where it is told to", shadow: { model: "up/b", stream: true }, stream: true },
  ];
  for (const { name, shadow, stream } of cases)
    it(name, async () => {
      const asked: Asked[] = [];
      const server = await vendor(asked);
      const folder = mkdtempSync(join(tmpdir(), "venturi-shadow-"));
      const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
      const config = {
        version: 1,
        providers: { up: { type: "openai", apiKey: "x", baseUrl } },
        models: {
          main: { chain: ["up/a"], shadow: { ...shadow, share: 1 } },
          both: { split: { "up/b": 1, "up/c": 1e-9 } },
        },
        agents: { a: { model: "main" } },
        journal: { type: "memory" },
        channels: {},
      };
      writeFileSync(join(folder, "venturi.yaml"), JSON.stringify(config));
      const host = await openHost({ configFile: join(folder, "venturi.yaml"), env: {}, log: silentLog });
      try {
        const { run } = await host.runs.start({ agent: "a", input: { text: "hi" } });
        for await (const _ of host.runs.follow(run));
        while (((await host.journal.keyValues?.list("notes")) ?? []).length === 0)
          await new Promise((resolve) => setTimeout(resolve, 5));
        expect(asked).to.deep.equal([
          { model: "a", stream: true },
          { model: "b", stream },
        ]);
        const [row] = (await host.journal.list({ tenant: shadowTenant })).runs;
        const events = await host.journal.read(row?.run ?? "", 0, 100);
        expect(events[0]).to.deep.include({ type: "run.started", run: row?.run, fork: { run, after: 1 } });
        expect(events.map(({ seq }) => seq)).to.deep.equal(events.map((_, index) => index + 1));
        const pieces = events.flatMap((event) => (event.type === "text.delta" ? [event.text] : []));
        expect(pieces.join("")).to.equal("It is sunny.");
        if (!stream) expect(pieces).to.have.length(1);
        expect(events.at(-1)).to.deep.include({ type: "run.finished", output: "It is sunny." });
      } finally {
        await host.close();
        server.close();
        server.closeAllConnections();
        rmSync(folder, { recursive: true, force: true });
      }
    });
});
