import { expect } from "chai";
import type { Browser } from "playwright-core";
import { openBrowser, openTab, shows } from "./browser.ts";
import { type ConsoleService, consoleService } from "./service.ts";

interface Event {
  readonly seq: number;
  readonly type: string;
  readonly text?: string;
}

describe("a console that loses its service", function () {
  this.timeout(90_000);
  let service: ConsoleService;
  let browser: Browser;
  before(async () => {
    service = await consoleService();
    browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    await service?.close();
  });

  it("goes on after the last event it has when the service was killed mid-run, and says so", async () => {
    const { run } = await service.json<{ run: string }>("/v1/runs", { agent: "counter", input: "count" });
    const { page, expectClean, close } = await openTab(browser, `${service.url}/console/runs/${run}?view=events`);
    await page.waitForSelector(".event-row:has-text('text.delta')");
    await service.kill();
    await page.waitForSelector(".banner:has-text('Connection lost')");
    await service.start();
    await page.waitForSelector(".banner:has-text('nothing was missed')", { timeout: 40_000 });
    await page.waitForSelector(".status.finished", { timeout: 60_000 });
    const { events } = await service.json<{ events: Event[] }>(`/v1/runs/${run}/events?limit=1000`);
    expect(events.length).to.be.greaterThan(100);
    await shows(page, ".scrub-fact", `${events.length}/${events.length}`);
    await shows(page, ".events .filters .faint", new RegExp(`, ${events.length} events$`));
    // The text as the page shows it is the text as the journal has it.
    await page.click("#tab-conversation");
    const retracted = await page.locator(".said.retracted").count();
    const shown = (await page.locator(".said.text").allTextContents()).join("").replaceAll(/\s+/g, "");
    const written = events.map((event) => (event.type === "text.delta" ? (event.text ?? "") : "")).join("");
    if (retracted === 0) expect(shown).to.equal(written.replaceAll(/\s+/g, ""));
    else expect(shown).to.include(written.slice(-200).replaceAll(/\s+/g, ""));
    await expectClean();
    await close();
  });

  it("comes back by itself after the network was away", async () => {
    const { run } = await service.json<{ run: string }>("/v1/runs", { agent: "counter", input: "count" });
    const { page, close } = await openTab(browser, `${service.url}/console/runs/${run}`);
    await page.waitForSelector(".status.running");
    await page.context().setOffline(true);
    await page.waitForTimeout(1500);
    await page.context().setOffline(false);
    await page.waitForSelector(".status.finished", { timeout: 60_000 });
    const { head } = await service.json<{ head: number }>(`/v1/runs/${run}`);
    await shows(page, ".scrub-fact", `${head}/${head}`);
    await close();
  });
});
