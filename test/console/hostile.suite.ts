import { expect } from "chai";
import type { Browser } from "playwright-core";
import { openBrowser, openTab } from "./browser.ts";
import { hostileRun } from "./hostile-run.ts";
import { hostileStrings } from "./hostile-strings.ts";
import { type ConsoleService, consoleService } from "./service.ts";

/** Elements that no text may bring about. */
const forbidden =
  "iframe, object, embed, script:not([src]), base, meta[http-equiv], link:not([rel=stylesheet], [rel=icon]), form[action], #app marquee, #app style, [onerror], [onload], [onclick], [onmouseover], [style*=url], a[href^=javascript], a[href^=data], a[href^=vbscript], img[src^=http], video, audio";
const perRun = 60;

describe("hostile text in the console", function () {
  this.timeout(300_000);
  const groups = Array.from({ length: Math.ceil(hostileStrings.length / perRun) }, (_, at) =>
    hostileStrings.slice(at * perRun, (at + 1) * perRun),
  );
  const run = (group: number) => `run_0hostile000000000000000000${String(group).padStart(2, "0")}`;
  let service: ConsoleService;
  let browser: Browser;
  before(async () => {
    service = await consoleService({
      before: (command) => {
        for (const [at, strings] of groups.entries()) command(["import", "-"], hostileRun(run(at), strings));
      },
    });
    browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    await service?.close();
  });

  it("there are at least 200 strings", () => {
    expect(new Set(hostileStrings).size).to.be.at.least(200);
  });

  it("is text in every place of every page, and the page still answers", async () => {
    const { page, expectClean, close } = await openTab(browser, `${service.url}/console/runs`);
    const check = async (where: string) => {
      expect(await page.locator(forbidden).count(), where).to.equal(0);
      expect(await page.evaluate("globalThis.pwned"), where).to.equal(undefined);
    };
    await page.waitForSelector(".row");
    await check("runs");
    for (const [at, strings] of groups.entries()) {
      await page.goto(`${service.url}/console/runs/${run(at)}`);
      await page.waitForSelector(".why");
      for (let more = 0; more < 6 && (await page.locator("button.earlier").count()) > 0; more += 1)
        await page.click("button.earlier");
      await page.evaluate(`document.querySelectorAll("details").forEach((each) => { each.open = true; })`);
      await check(`conversation ${at}`);
      // What was written is what is read: nothing was eaten as markup.
      const text = (await page.textContent(".conversation")) ?? "";
      for (const each of strings.filter((string) => /^<[\w/]/.test(string) && /^[ -~]+$/.test(string))) {
        expect(text.replaceAll(/\s+/g, " "), each).to.include(each.replaceAll(/\s+/g, " ").slice(0, 40));
      }
      for (const view of ["trace", "events", "request", "wire"]) {
        await page.click(`#tab-${view}`);
        await page.waitForSelector(`#panel-${view}`);
        if (view === "trace" || view === "events") {
          for (let end = 0; end < 3; end += 1) {
            await page
              .locator(".run-main .rows")
              .evaluate(`(element) => { element.scrollTop = element.scrollHeight * ${end / 2}; }`);
            await page.locator(".run-main .row").nth(end).click();
            await page.waitForSelector(".inspector");
            await check(`${view} ${at} ${end}`);
          }
        }
        await check(`${view} ${at}`);
      }
      for (let call = 0; call < strings.length; call += 13) {
        await page.goto(`${service.url}/console/runs/${run(at)}?select=${encodeURIComponent(`call call_${call}`)}`);
        await page.waitForSelector(".inspector");
        await check(`call ${at} ${call}`);
      }
    }
    await page.goto(`${service.url}/console/compare?a=${run(0)}&b=${run(1)}`);
    await page.waitForSelector(".figures");
    await check("compare");
    await page.goto(`${service.url}/console/sessions`);
    await page.waitForSelector(".row");
    await check("sessions");
    await page.locator(".row").first().click();
    await page.waitForSelector(".turn");
    await check("session");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("run");
    await check("palette");
    await expectClean();
    await close();
  });

  it("is text while it streams, in metadata, session and address too", async () => {
    const { page, expectClean, close } = await openTab(browser, `${service.url}/console/chat/echo`);
    await page.waitForSelector("#composer");
    for (let at = 0; at < hostileStrings.length; at += 60) {
      const input = hostileStrings
        .slice(at, at + 60)
        .filter((each) => each.isWellFormed() && each.length < 300)
        .join("\n\n");
      await page.goto(`${service.url}/console/chat/echo`);
      await page.fill("#composer", input);
      await page.keyboard.press("Enter");
      await page.waitForSelector(".status.finished", { timeout: 60_000 });
      expect(await page.locator(forbidden).count(), `streamed ${at}`).to.equal(0);
    }
    for (const each of hostileStrings.slice(0, 6)) {
      const name = encodeURIComponent(each.slice(0, 60)).replaceAll("%2F", "_");
      for (const path of [
        `/console/chat/${name}`,
        `/console/runs/${name}`,
        `/console/${name}`,
        `/console/runs?q=${name}`,
        `/console/compare?a=${name}&b=${name}`,
      ]) {
        await page.goto(service.url + path);
        await page.waitForSelector("main");
        expect(await page.locator(forbidden).count(), path).to.equal(0);
      }
    }
    expect(await page.evaluate("globalThis.pwned")).to.equal(undefined);
    await expectClean();
    await close();
  });

  it("is text in spans, kept bytes, quirks, workers, and filters of the list", async () => {
    const { page, expectClean, close } = await openTab(browser, `${service.url}/console/`);
    const strings = hostileStrings.filter((each) => each.isWellFormed());
    const json = (body: unknown) => ({ status: 200, contentType: "application/json", body: JSON.stringify(body) });
    const spans = strings.map((name, at) => ({
      spanId: String(at),
      parentSpanId: at % 7 === 0 ? "" : String(at - 1),
      name,
      startTimeUnixNano: String(1_794_000_000_000_000_000n + BigInt(at)),
      endTimeUnixNano: String(1_794_000_000_001_000_000n + BigInt(at)),
      status: { code: at % 2 === 0 ? 2 : 1 },
      attributes: [{ key: name, value: { stringValue: name } }],
    }));
    await page.route("**/v1/runs/*/trace", (route) =>
      route.fulfill(json({ resourceSpans: [{ scopeSpans: [{ spans }] }] })),
    );
    const chunks = strings.map((text, at) => ({ offset: at, text, deltas: [{ type: "text", text }, { type: text }] }));
    const named = Object.fromEntries(strings.slice(0, 60).map((each) => [each, each]));
    await page.route("**/v1/runs/*/wires", (route) =>
      route.fulfill(json({ run: "r", wires: [{ round: 1, attempt: 1, wire: strings[0], size: strings.length }] })),
    );
    await page.route("**/v1/runs/*/wires/1/1*", (route) =>
      route.fulfill(
        json({
          wire: strings[0],
          size: 9,
          chunks,
          quirks: Object.fromEntries(Object.keys(named).map((each) => [each, 2])),
          notes: named,
          cut: false,
        }),
      ),
    );
    const real = await service.json<Record<string, unknown>>("/v1/service");
    await page.route("**/v1/service", (route) =>
      route.fulfill(
        json({
          ...real,
          processes: strings.map((status, number) => ({
            number,
            pid: number,
            status,
            startedAt: 0,
            restarts: 1,
            runs: 1,
          })),
          replicas: {
            known: true,
            workers: strings.map((name) => ({ name, silentMs: 1, runs: 1, own: false, alive: false })),
          },
        }),
      ),
    );
    const check = async (where: string) => {
      expect(await page.locator(forbidden).count(), where).to.equal(0);
      expect(await page.evaluate("globalThis.pwned"), where).to.equal(undefined);
    };
    await page.goto(`${service.url}/console/runs/${run(0)}?view=trace&spans=1`);
    await page.waitForSelector(".spans .row");
    for (let end = 0; end < 5; end += 1) {
      await page
        .locator(".spans .rows")
        .evaluate(`(element) => { element.scrollTop = element.scrollHeight * ${end / 4}; }`);
      await page.waitForTimeout(60);
      await page.locator(".spans .row").nth(3).click();
      await check(`spans ${end}`);
    }
    await page.goto(`${service.url}/console/runs/${run(0)}?view=wire`);
    await page.waitForSelector(".chunks td");
    await page.locator(".chunks tbody tr").nth(3).locator("pre").nth(1).hover();
    await check("wire");
    await page.click("button:has-text('Hex')");
    await check("hex");
    await page.goto(`${service.url}/console/service`);
    await page.waitForSelector(".service");
    await check("service");
    for (const each of strings.slice(0, 40)) {
      const [name, value] = [encodeURIComponent(each.slice(0, 60)), encodeURIComponent(each)];
      await page.goto(
        `${service.url}/console/runs?metadata.${name}=${value}&key=${value}&tenant=${value}&sort=${value}`,
      );
      await page.waitForSelector(".filters");
      await check(`filters ${each}`);
    }
    await expectClean();
    await close();
  });

  it("a sink used by mistake would be refused by the browser", async () => {
    const { page, close } = await openTab(browser, `${service.url}/console/`);
    await page.waitForSelector("#composer");
    // As a script of the page, not of the debugger, which no policy binds.
    const refused = await page.evaluate(
      `(() => { try { document.body.innerHTML = "<b>x</b>"; return "taken"; } catch (error) { return error.name; } })()`,
    );
    expect(refused).to.equal("TypeError");
    await close();
  });
});
