import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { openBrowser, openTab } from "./browser.ts";
import { type ConsoleService, consoleService } from "./service.ts";
import { makeRuns, pagesOf, type Runs, type State } from "./states.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  readonly id: string;
  readonly nodes: { readonly html: string; readonly failureSummary: string }[];
}

describe("the console for everyone (axe, WCAG 2.2 AA)", function () {
  this.timeout(240_000);
  let service: ConsoleService;
  let browser: Browser;
  let runs: Runs;
  before(async () => {
    service = await consoleService();
    browser = await openBrowser();
    runs = await makeRuns(service);
  });
  after(async () => {
    await browser?.close();
    await service?.close();
  });

  // The checker makes elements from strings, which the page's own policy forbids.
  const open = (options: object) => openTab(browser, `${service.url}/console/`, { bypassCSP: true, ...options });
  const show = async (page: Page, { path, ready, act }: State) => {
    await page.goto(service.url + path);
    await page.waitForSelector(ready);
    await act?.(page);
    await page.waitForTimeout(150);
  };

  for (const colorScheme of ["light", "dark"] as const) {
    it(`no page breaks a rule in any state, ${colorScheme}`, async () => {
      const { page, close } = await open({ colorScheme });
      const found: string[] = [];
      for (const state of pagesOf(runs)) {
        await show(page, state);
        await page.evaluate(axe);
        const options = {
          runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
          rules: { "heading-order": { enabled: true }, "scrollable-region-focusable": { enabled: true } },
        };
        const { violations } = await page.evaluate<{ violations: Violation[] }>(
          `axe.run(document, ${JSON.stringify(options)})`,
        );
        for (const { id, nodes } of violations) {
          const told = nodes.map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary}`);
          found.push(`${state.name} ${id}: ${told.join("\n")}`);
        }
      }
      await close();
      expect(found).to.deep.equal([]);
    });
  }

  for (const width of [390, 640, 3840]) {
    it(`no page is wider than its window, ${width} px`, async () => {
      const { page, close } = await open({ viewport: { width, height: width === 640 ? 400 : 900 } });
      const found: string[] = [];
      for (const state of pagesOf(runs)) {
        await show(page, state);
        if (await page.evaluate("document.documentElement.scrollWidth > innerWidth")) found.push(state.name);
      }
      await close();
      expect(found).to.deep.equal([]);
    });
  }
});
