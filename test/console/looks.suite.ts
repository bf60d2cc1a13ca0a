import { expect } from "chai";
import type { Page } from "playwright-core";
import { consolePages, shows } from "./browser.ts";
import { type ConsoleService, consoleService } from "./service.ts";
import { makeRuns, pagesOf, type Runs } from "./states.ts";

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true };

describe("what a screenshot of the console shows", function () {
  this.timeout(120_000);
  let service: ConsoleService;
  let runs: Runs;
  before(async () => {
    service = await consoleService();
    runs = await makeRuns(service);
  });
  after(() => service?.close());
  const open = consolePages(() => service.url);

  for (const width of [390, 800, 1100, 1280, 1500]) {
    it(`nothing of a page's head lies over something else of it, and its title is read, ${width} px wide`, async () => {
      const page = await open("runs", { viewport: { width, height: 844 } });
      const wrong: string[] = [];
      const heads = ["run", "run-past", "run-waiting", "run-retracted", "chat-approval", "session", "spend", "compare"];
      for (const { name, path, ready } of pagesOf(runs).filter((each) => heads.includes(each.name))) {
        await page.goto(service.url + path);
        await page.waitForSelector(ready);
        const found = await page.evaluate<string[]>(`(() => {
          const head = document.querySelector(".page-head");
          const facts = head.querySelector(".page-facts").getBoundingClientRect();
          const parts = [...head.querySelectorAll(".fact, .status, button, .button, select, h1 bdi")];
          const over = parts.filter((part) => part.checkVisibility()).flatMap((part) => {
            const { left, right, top, bottom } = part.getBoundingClientRect();
            // Facts that do not fit are on a line that is not shown.
            if (part.closest(".page-facts") && top >= facts.bottom - 1) return [];
            return [left + 1, right - 1].flatMap((x) => {
              const there = document.elementFromPoint(x, (top + bottom) / 2);
              return there !== null && (part.contains(there) || there.contains(part)) ? [] : [part.textContent + " is under " + (there?.outerHTML.slice(0, 60) ?? "nothing")];
            });
          });
          const title = head.querySelector("h1").getBoundingClientRect().width;
          return title < 40 ? [...over, "the title has " + title + " px"] : over;
        })()`);
        wrong.push(...found.map((each) => `${name}: ${each}`));
      }
      expect(wrong).to.deep.equal([]);
    });
  }

  it("a phone shows the question that a conversation waits for, and the filters that narrow a list", async () => {
    const page = await open("chat/support/ada", phone);
    await page.waitForSelector("[data-act=approve]");
    const seen = (selector: string) =>
      page.evaluate<boolean>(`(() => {
        const { left, right, top, bottom } = document.querySelector("${selector}").getBoundingClientRect();
        const there = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
        return there !== null && document.querySelector("${selector}").contains(there);
      })()`);
    for (let turn = 0; turn < 100 && !(await seen("[data-act=approve]")); turn += 1) await page.waitForTimeout(50);
    expect(await seen("[data-act=approve]")).to.equal(true);
    await page.goto(`${service.url}/console/runs?tool=find_order&sort=costliest`);
    await page.waitForSelector(".chip");
    expect(await seen(".filters .chip")).to.equal(true);
  });

  it("the whole explanation is shown on a wide screen, and on a phone after a tap", async () => {
    const told = async (page: Page) => {
      await page.waitForSelector(".why .sentence");
      return await page.evaluate<number>(
        `[...document.querySelectorAll(".why > :not(.tag, .narrow-only)")].filter((each) => each.checkVisibility()).length`,
      );
    };
    const wide = await open(`runs/${runs.retracted}`);
    const all = await told(wide);
    expect(all).to.be.greaterThan(1);
    expect(await wide.locator(".why .narrow-only").isVisible()).to.equal(false);
    const narrow = await open(`runs/${runs.retracted}`, phone);
    expect(await told(narrow)).to.equal(1);
    await narrow.click(".why .narrow-only");
    expect(await told(narrow)).to.equal(all);
  });

  it("a moment of the past shows what was spent by then", async () => {
    const costAt = async (query: string) => {
      const page = await open(`runs/${runs.done}${query}`);
      await page.waitForSelector(".fact:has-text('$')");
      return Number((await page.textContent(".fact:has-text('$')"))?.slice(1));
    };
    const whole = await costAt("");
    expect(await costAt("?at=25"))
      .to.be.greaterThan(0)
      .and.lessThan(whole);
  });

  it("who stopped a run is not told where there are no keys, and what had arrived is counted", async () => {
    const page = await open(`runs/${runs.stopped}`);
    await page.waitForSelector(".why");
    await shows(page, ".ending b", "Stopped");
    const said = (await page.textContent(".said")) ?? "";
    const why = (await page.textContent(".why")) ?? "";
    expect(why).to.not.include("anyone");
    if (/\d/.test(said)) expect(why).to.not.match(/\b0 characters/);
    await page.goto(`${service.url}/console/runs`);
    await page.waitForSelector(".row");
    await shows(page, ".run-list", "Stopped");
    expect(await page.textContent(".run-list")).not.to.include("anyone");
  });

  it("an event's line separates what two rounds said", async () => {
    const page = await open(`runs/${runs.done}?view=events`);
    await page.waitForSelector(".event-row:has-text('run.finished')");
    await shows(page, ".event-row:has-text('run.finished')", "One moment. Order A-17");
  });
});
