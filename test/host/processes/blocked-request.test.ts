import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { Started } from "./started.ts";

const plugins = new URL("../../../src/plugin.js", import.meta.url).href;
/** Routes that take a process down outside of any run, each in another way. */
const channel = `import { definePlugin } from "${plugins}";
import { z } from "${import.meta.resolve("zod")}";
const turn = () => new Promise((next) => setTimeout(next, 20));
export default definePlugin({
  name: "channel-bad",
  kind: "channel",
  options: z.strictObject({}),
  create: () => ({
    mount: ({ server }) => {
      server.get("/bad/loop", () => { for (;;); });
      server.get("/bad/later/:id", async () => { await turn(); for (;;); });
      server.get("/bad/expression", async () => { await turn(); return String(/^(a+)+$/.test("a".repeat(60) + "!")); });
      server.post("/bad/memory", async () => { const held = []; for (;;) held.push(new Array(100_000).fill(held.length)); });
    },
  }),
});`;
const sha256 = (key: string) => createHash("sha256").update(key).digest("hex");
const config = (processes: number) => `
dataFolder: ./data
plugins: [./bad.mjs]
providers: { demo: { type: simulator, pace: 0 } }
agents: { story: { model: demo/any } }
journal: { type: sqlite, path: ./data/venturi.db }
channels: { http: {}, bad: {} }
server:
  listen: 0
  processes: ${processes}
  wedged: 2s
  auth: { keys: [{ id: loud, sha256: ${sha256("loud")} }, { id: quiet, sha256: ${sha256("quiet")} }] }
telemetry: { logs: { format: text } }
`;

for (const processes of [1, 2]) {
  describe(`a request that blocks its process, with ${processes} of them`, function () {
    this.timeout(180_000);
    const folder = mkdtempSync(join(tmpdir(), "venturi-"));
    let service: Started;
    before(async () => {
      writeFileSync(join(folder, "bad.mjs"), channel);
      writeFileSync(join(folder, "venturi.yaml"), config(processes));
      const { NODE_OPTIONS = "" } = process.env;
      process.env.NODE_OPTIONS = `${NODE_OPTIONS} --max-old-space-size=150`; // soon used up
      service = new Started(join(folder, "venturi.yaml"));
      process.env.NODE_OPTIONS = NODE_OPTIONS;
      await service.listening();
    });
    after(async () => {
      service.child.kill("SIGTERM");
      service.child.kill("SIGTERM");
      await service.ended;
      rmSync(folder, { recursive: true, force: true });
    });
    const asked = (key: string, path: string) =>
      service.fetch(path, { headers: { authorization: `Bearer ${key}` } }).catch(() => undefined);
    const restarts = () => service.said.split("another one is started").length - 1;

    for (const [path, route] of [
      ["/bad/loop", "GET /bad/loop"],
      ["/bad/later/7", "GET /bad/later/:id"],
      ["/bad/expression", "GET /bad/expression"],
    ] as const) {
      it(`${path}: its tenant and route are named, and after two processes they are refused`, async () => {
        // Of this route: on a busy machine a process may stand still for two seconds while it starts.
        const blocked = () =>
          service.said.match(new RegExp(`another one is started.*route=${route}`, "g"))?.length ?? 0;
        while (blocked() < 2) {
          const before = restarts();
          expect(await asked("loud", path)).to.equal(undefined);
          await service.until(() => restarts() > before);
        }
        expect(service.said).to.match(new RegExp(`blocked.*tenant=loud route=${route} stack=`));
        await service.until(() => service.said.includes(`are refused tenant=loud route=${route}`));
        let refused: Response | undefined;
        while (refused === undefined) refused = await asked("loud", path);
        expect(refused.status).to.equal(429);
        expect(Number(refused.headers.get("retry-after"))).to.be.within(1, 600);
        expect(((await refused.json()) as { error: { err: string } }).error.err).to.include(
          `to ${route} blocked 2 processes`,
        );
        expect((await asked("loud", "/v1/agents"))?.status).to.equal(200);
        expect((await asked("quiet", "/v1/agents"))?.status).to.equal(200);
        expect(blocked()).to.equal(2);
      });
    }

    it("out of memory: who held most of it is named", async () => {
      const headers = { authorization: "Bearer loud", "content-type": "application/json" };
      const body = JSON.stringify({ text: "x".repeat(6 * 1024 ** 2) });
      const from = service.said.length;
      const named = () => /another one is started.*holder=loud holds=18 MiB held=18 MiB/.test(service.said.slice(from));
      // A process of a busy machine may be replaced for another reason, before it holds anything.
      for (let tries = 0; tries < 5 && !named(); tries++) {
        const before = restarts();
        await service.fetch("/bad/memory", { method: "POST", headers, body }).catch(() => {});
        await service.until(() => restarts() > before);
      }
      expect(named()).to.equal(true);
    });
  });
}
