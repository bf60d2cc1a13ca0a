import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { openBrowser } from "../console/browser.ts";
import { Place } from "./place.ts";

const names = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

function browserHere(): string | undefined {
  const given = process.env.VENTURI_BROWSER;
  if (given !== undefined && existsSync(given)) return given;
  for (const name of names) {
    try {
      return execFileSync("which", [name], { encoding: "utf8" }).trim();
    } catch {
      // the next one
    }
  }
  return undefined;
}

describe("the HTML report of an eval in a browser", function () {
  this.timeout(120_000);
  const place = new Place(8, (model, amount) => model === "bad" && amount % 3 === 0);
  after(() => place.remove());

  it("needs nothing but its file: scores, intervals, what changed, and each item's answer", async function () {
    const found = browserHere();
    if (found === undefined) return void this.skip();
    process.env.VENTURI_BROWSER = found;
    await place.record(8);
    place.write("set.yaml", "name: orders\nscorers: [exact, calls]\nitems: [{ runs: { agent: buyer } }]\n");
    await place.venturi("eval", "set.yaml", "--model", "demo/bad", "--html", "report.html");
    const browser = await openBrowser();
    try {
      const page = await browser.newPage({ viewport: { width: 1000, height: 900 } });
      const wrong: string[] = [];
      page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
      page.on("pageerror", (error) => wrong.push(String(error)));
      page.on("request", (request) => request.url().startsWith("file:") || wrong.push(request.url()));
      await page.goto(pathToFileURL(place.file("report.html")).href);
      expect(await page.locator("table").count()).to.equal(2);
      expect(await page.locator("svg").count()).to.equal(2);
      const changed = page.locator("ul.changed a");
      expect(await changed.count()).to.equal(3);
      await changed.first().click();
      const row = page.locator("tr:target");
      await row.locator("summary").click();
      expect(await row.locator("dl").innerText())
        .to.include("I cannot")
        .and.match(/done: \d/);
      const wide = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
      expect(wide).to.equal(0);
      if (process.env.VENTURI_PICTURE !== undefined)
        await page.screenshot({ path: process.env.VENTURI_PICTURE, fullPage: true });
      expect(wrong).to.deep.equal([]);
    } finally {
      await browser.close();
    }
  });
});
