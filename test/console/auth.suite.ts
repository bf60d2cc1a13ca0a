import { expect } from "chai";
import type { Browser } from "playwright-core";
import { openBrowser, openTab } from "./browser.ts";
import { type ConsoleService, consoleService } from "./service.ts";

const keys = [
  { id: "boss", secret: "secret-of-the-boss", may: ["start", "see", "steer", "inspect", "approve", "metrics"] },
  { id: "guest", secret: "secret-of-a-guest", may: ["see"] },
];

describe("keys and the console", function () {
  this.timeout(60_000);
  let service: ConsoleService;
  let browser: Browser;
  before(async () => {
    service = await consoleService({ keys });
    browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    await service?.close();
  });
  const signIn = async (secret: string) => {
    const tab = await openTab(browser, `${service.url}/console/`);
    await tab.page.waitForSelector("text=Sign in to Venturi");
    await tab.page.fill("input[type=password]", secret);
    await tab.page.keyboard.press("Enter");
    return tab;
  };

  it("without a key nothing but the form is shown, and a wrong one is refused", async () => {
    const { page, close } = await signIn("not-a-key");
    await page.waitForSelector("text=this key is not known here");
    expect(await page.locator(".rail").count()).to.equal(0);
    await close();
  });

  it("a key opens the console, and is nowhere but in this tab's storage", async () => {
    const { page, expectClean, close } = await signIn("secret-of-the-boss");
    await page.waitForSelector("#composer");
    await page.fill("#composer", "Where is order A-17?");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".status.finished");
    const secret = "secret-of-the-boss";
    expect(page.url()).not.to.include(secret);
    expect(await page.content()).not.to.include(secret);
    expect(await page.evaluate("JSON.stringify({ ...localStorage }) + document.cookie")).not.to.include(secret);
    const other = await openTab(browser, `${service.url}/console/`);
    await other.page.waitForSelector("text=Sign in to Venturi");
    await other.close();
    await page.click("button[title^='Signed in']");
    await page.click("[data-act=confirm]");
    await page.waitForSelector("text=Sign in to Venturi");
    expect(await page.evaluate("JSON.stringify({ ...sessionStorage })")).not.to.include(secret);
    await expectClean();
    await close();
  });

  it("what a key may not do is not offered, and the service refuses it anyway", async () => {
    const { page, close } = await signIn("secret-of-a-guest");
    await page.waitForSelector(".rail");
    const offered = await page.locator(".rail a").allTextContents();
    const me = await fetch(`${service.url}/v1/me`, { headers: { authorization: "Bearer secret-of-a-guest" } });
    if (me.ok) {
      expect(offered.join(" ")).not.to.match(/Chat|Service/);
      await page.goto(`${service.url}/console/runs`);
      await page.waitForSelector(".row");
      await page.click(".row");
      await page.waitForSelector("#tab-trace");
      expect(await page.locator("button:has-text('Fork'), button:has-text('Stop'), #composer").count()).to.equal(0);
    }
    const refused = await fetch(`${service.url}/v1/runs`, {
      method: "POST",
      headers: { authorization: "Bearer secret-of-a-guest", "content-type": "application/json" },
      body: JSON.stringify({ agent: "support", input: "hello" }),
    });
    expect(refused.status).to.equal(403);
    await close();
  });
});
