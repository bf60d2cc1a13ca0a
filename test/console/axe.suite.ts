import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect } from "chai";
import type { Browser } from "playwright-core";
import { openBrowser, openTab } from "./browser.ts";
import { type ConsoleService, consoleService } from "./service.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  readonly id: string;
  readonly nodes: { readonly html: string; readonly failureSummary: string }[];
}

describe("the console for everyone (axe, WCAG 2.2 AA)", function () {
  this.timeout(240_000);
  let service: ConsoleService;
  let browser: Browser;
  const runs: string[] = [];
  before(async () => {
    service = await consoleService();
    browser = await openBrowser();
    for (const [agent, input] of [
      ["support", "Where is order A-17?"],
      ["careful", "Where is order A-17?"],
      ["broken", "hello"],
      ["support", "I want a refund for order A-17"],
      ["manager", "Where is order A-17?"],
    ] as const) {
      const { run } = await service.json<{ run: string }>("/v1/runs", {
        agent,
        input,
        ...(agent === "manager" ? {} : { session: "ada" }),
      });
      runs.push(run);
      for (let turn = 0; turn < 200; turn += 1) {
        const { status } = await service.json<{ status: string }>(`/v1/runs/${run}`);
        if (status !== "running" && status !== "ready") break;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  });
  after(async () => {
    await browser?.close();
    await service?.close();
  });

  for (const colorScheme of ["light", "dark"] as const) {
    for (const width of colorScheme === "light" ? [1280, 390] : [1280]) {
      it(`no page breaks a rule, ${colorScheme}, ${width} px wide`, async () => {
        const [done = "", , broken = "", waiting = "", manager = ""] = runs;
        const pages: readonly [path: string, ready: string][] = [
          ["/console/", "#composer"],
          ["/console/chat/concierge", ".inputs"],
          ["/console/chat/support/ada", ".approval"],
          ["/console/runs", ".row"],
          ["/console/spend", "table.spend"],
          ["/console/runs?q=nothing+like+this&status=failed", ".filters"],
          [`/console/runs/${done}`, ".why"],
          [`/console/runs/${done}?view=trace&select=run`, ".wf-row"],
          ["/console/runs?sort=costliest&tool=find_order&key=anyone", ".chip"],
          [`/console/runs/${manager}?view=trace`, ".wf-row.depth-5"],
          [`/console/runs/${done}?view=trace&spans=1`, ".spans .wf-row"],
          [`/console/compare?a=${done}`, ".plain-list li"],
          [`/console/runs/${done}?view=events&select=event+5&at=20`, ".event-row"],
          [`/console/runs/${done}?view=request`, ".request"],
          [`/console/runs/${done}?view=wire`, ".chunks td"],
          [`/console/runs/${broken}`, ".ending.failed"],
          [`/console/runs/${waiting}`, "[data-act=approve]"],
          [`/console/compare?a=${done}&b=${broken}`, ".figures"],
          ["/console/approvals", ".question-card"],
          ["/console/sessions", ".row"],
          ["/console/sessions?session=ada", ".turn"],
          ["/console/service", ".service"],
          ["/console/nowhere", "main"],
        ];
        // The checker makes elements from strings, which the page's own policy forbids.
        const { page, close } = await openTab(browser, `${service.url}/console/`, {
          colorScheme,
          viewport: { width, height: 800 },
          bypassCSP: true,
        });
        const found: string[] = [];
        for (const [path, ready] of pages) {
          await page.goto(service.url + path);
          await page.waitForSelector(ready);
          await page.waitForTimeout(150);
          const tooWide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
          if (tooWide) found.push(`${path} is wider than the window`);
          // Colours and names are the same at any width.
          if (width < 1280) continue;
          await page.evaluate(axe);
          const options = { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] };
          const { violations } = await page.evaluate<{ violations: Violation[] }>(
            `axe.run(document, ${JSON.stringify(options)})`,
          );
          const told = violations.map(
            ({ id, nodes }) =>
              `${id}: ${nodes.map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary}`).join("\n")}`,
          );
          found.push(...told.map((each) => `${path} ${each}`));
        }
        await close();
        expect(found).to.deep.equal([]);
      });
    }
  }
});
