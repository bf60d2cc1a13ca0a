import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { Browser } from "playwright-core";
import { silentLog } from "../../src/core/ports/log.ts";
import { openService, type Service } from "../../src/host/service.ts";
import { eventually, openBrowser, openTab } from "./browser.ts";

const config = `
version: 1
providers: { demo: { type: simulator, pace: 0 } }
models: { small: { chain: [demo/echo], contextTokens: 700 } }
memories: { notes: { type: memory } }
agents:
  talker:
    model: small
    compaction: { by: summary, keep: 1, model: demo/small }
    memory: { recall: { store: notes, scopes: [agent], top: 3 } }
journal: { type: memory }
channels: { http: {}, websocket: {}, console: {} }
server: { listen: 127.0.0.1:0 }
`;

describe("what a run was given beside its input, in the console", function () {
  this.timeout(60_000);
  let service: Service;
  let browser: Browser;
  let folder: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "venturi-unfold-"));
    writeFileSync(join(folder, "venturi.yaml"), config);
    service = await openService({ configFile: join(folder, "venturi.yaml"), env: {}, log: silentLog });
    browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    await service?.drain();
    rmSync(folder, { recursive: true, force: true });
  });
  const ask = async (method: string, path: string, body: object) => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${service.url}/v1/${path}`, { method, headers, body: JSON.stringify(body) });
    return (await response.json()) as { run: string };
  };

  it("a summary unfolds to the turns that it stands for, and what was recalled to its notes", async () => {
    await ask("PUT", "memory/agent/talker/notes/notes/tea", { text: "Ana drinks <b>green</b> tea" });
    const turn = (word: string) =>
      ask("POST", "runs", { agent: "talker", session: "s", input: `tea ${word} ${"x".repeat(900)}` });
    await turn("alpha");
    await turn("beta");
    const { run } = await turn("gamma");
    const tab = await openTab(browser, `${service.url}/console/runs/${run}`);
    const { page } = tab;
    const recalled = page.locator("details.unfolding", { hasText: "Recalled" });
    await recalled.locator("summary").click();
    await recalled.locator("li").waitFor();
    expect(await recalled.locator("li").innerText())
      .to.contain("Ana drinks <b>green</b> tea")
      .and.contain("talker");
    const folded = page.locator("details.unfolding", { hasText: "compacted" });
    await eventually(
      () => folded.count(),
      (it) => expect(it).to.be.greaterThan(0),
    );
    await folded.first().locator("summary").click();
    await folded.first().locator("li").first().waitFor();
    await eventually(
      () => folded.first().locator("li").first().innerText(),
      (it) => expect(it).to.contain("tea alpha"),
    );
    await tab.expectClean();
    await tab.close();
  });
});
