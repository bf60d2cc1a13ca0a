import { expect } from "chai";
import type { Page } from "playwright-core";
import { consolePages, eventually, shows } from "./browser.ts";
import { type ConsoleService, consoleService } from "./service.ts";
import { makeRuns, pagesOf, type Runs } from "./states.ts";

const key = { id: "ada", secret: "secret-of-ada-0000", may: ["start", "see", "steer", "inspect", "approve"] };

describe("what must not annoy in the console", function () {
  this.timeout(60_000);
  let service: ConsoleService;
  let runs: Runs;
  before(async function () {
    this.timeout(120_000);
    service = await consoleService({ keys: [key] });
    runs = await makeRuns(service);
  });
  after(() => service?.close());
  const pages = consolePages(() => service.url);
  const open = (path: string, options = {}): Promise<Page> => pages(path, { key: key.secret, ...options });
  const settle = async (run: string) => {
    for (;;) {
      const { status } = await service.json<{ status: string }>(`/v1/runs/${run}`);
      if (status !== "running" && status !== "ready") return run;
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
  };
  const heightOf = (page: Page, selector: string) =>
    page.evaluate<number>(`document.querySelector("${selector}").clientHeight`);
  const start = async (agent: string, input: string) =>
    settle((await service.json<{ run: string }>("/v1/runs", { agent, input })).run);

  for (const width of [390, 1280]) {
    it(`a label of the waterfall stands over no row's name and inside its row, ${width} px wide`, async () => {
      const page = await open(`runs/${runs.manager}?view=trace&select=run`, { viewport: { width, height: 900 } });
      if (width < 720) await page.keyboard.press("Escape");
      for (const run of [runs.manager, runs.retracted]) {
        await page.goto(`${service.url}/console/runs/${run}?view=trace`);
        await page.waitForSelector(".wf-row .wf-time");
        const wrong = await page.evaluate<string[]>(`[...document.querySelectorAll(".wf-row")].flatMap((row) => {
          const [name, time, track] = [".wf-label", ".wf-time", ".track"].map((each) => row.querySelector(each).getBoundingClientRect());
          const text = row.querySelector(".wf-time").textContent;
          if (time.left < name.right || time.right > track.right + 1) return [text + " is over the name, or outside"];
          return time.width < 34 ? [text + " is cut to " + time.width] : [];
        })`);
        expect(wrong).to.deep.equal([]);
      }
    });
  }

  it("an approval without a change is no edit, one with a change is", async () => {
    for (const [amount, chips] of [
      ["240", 0],
      ["200", 1],
    ] as const) {
      const run = await start("support", "I want a refund for order A-17");
      const page = await open(`runs/${run}`);
      await page.waitForSelector("[data-act=edit]:not([disabled])");
      await page.click("[data-act=edit]");
      await page.fill(".arguments .field:has-text('amount') input", amount);
      await page.click("[data-act=approve]");
      await page.waitForSelector(".status.finished");
      await eventually(
        () => page.locator(".call .chip:has-text('edited')").count(),
        (it) => expect(it).to.equal(chips),
      );
    }
  });

  it("whoever closes a batch of approvals takes it back", async () => {
    const run = await start("support", "I want a refund for order A-17");
    const page = await open("approvals");
    await page.click("text=/all \\d of refund_order/");
    await page.click("[data-act=approve-chosen]");
    await page.waitForSelector("[data-act=batch]:not([disabled])");
    await page.click("[data-act=batch]");
    await page.waitForSelector("[data-act=undo]");
    await page.click("dialog button:has-text('Cancel')");
    await page.waitForTimeout(400);
    for (const each of [run, runs.waiting]) {
      expect((await service.json<{ status: string }>(`/v1/runs/${each}`)).status).to.equal("waiting");
    }
    await service.json(`/v1/runs/${run}/cancel`, {});
  });

  it("a table's columns are aligned as it says, and keep their words whole in a narrow window", async () => {
    const run = await start("support", "a table, please");
    const page = await open(`runs/${run}`, { viewport: { width: 390, height: 844 } });
    await page.waitForSelector(".prose td");
    const aligned = await page.evaluate<string[]>(
      `[...document.querySelectorAll(".prose tbody tr:first-child td")].map((cell) => getComputedStyle(cell).textAlign)`,
    );
    expect(aligned).to.deep.equal(["start", "center", "start", "right", "right"]);
    const scroller = "document.querySelector('.prose .table-scroll')";
    expect(await page.evaluate(`${scroller}.tabIndex`)).to.equal(0);
    // "distribution" on one line.
    const narrow = await page.evaluate("document.querySelectorAll('.prose tbody td')[2].clientWidth");
    expect(narrow).to.be.greaterThan(70);
  });

  for (const width of [390, 1280]) {
    it(`sixteen bytes or eight and their text are seen whole in hex, ${width} px wide`, async () => {
      const page = await open(`runs/${runs.done}?view=wire`, { viewport: { width, height: 800 } });
      await page.click("button:has-text('Hex')");
      await page.waitForSelector(".chunks .hex");
      const cut =
        "[...document.querySelectorAll('.chunks .hex')].filter((each) => each.scrollWidth > each.clientWidth)";
      expect(await page.evaluate(`${cut}.length`)).to.equal(0);
    });
  }

  it("a long text is folded in Compare", async () => {
    const [one, other] = [
      await start("echo", `a ${"long ".repeat(400)}`),
      await start("echo", `b ${"long ".repeat(400)}`),
    ];
    const page = await open(`compare?a=${one}&b=${other}`);
    await page.waitForSelector(".diffed summary");
    await eventually(
      () => heightOf(page, ".compare"),
      (it) => expect(it).to.be.lessThan(1600),
    );
  });

  it("the service says what a breaker means, over which time its figures are, and how many runs are in line", async () => {
    const page = await open("service");
    await page.waitForSelector(".panel:has-text('Providers')");
    await shows(page, ".service", /calls go through/);
    expect(await page.textContent(".service")).not.to.match(/\bclosed\b/);
    await shows(page, ".sparks-head", /over the last hour/);
    await page.waitForSelector(".spark:has-text('In line') .spark-axis:has-text('now')");
    await page.waitForSelector(".facts div:has(dt:text-is('in line')) dd:text-is('0')");
    await page.route("**/v1/service", async (route) => {
      const answer = await route.fetch();
      const view = (await answer.json()) as { providers: object[] };
      const half = { name: "half", type: "simulator", breaker: "half-open", leftMs: 0 };
      const broken = { name: "broken", type: "simulator", breaker: "open", leftMs: 12_000 };
      await route.fulfill({ response: answer, json: { ...view, providers: [half, broken] } });
    });
    await page.reload();
    await page.waitForSelector(".status.waiting:has-text('the next call tries it')");
    await page.waitForSelector(".status.failed:has-text('calls are held back, 12.0 s more')");
  });

  it("what two rounds said stands apart in lists", async () => {
    const page = await open("runs?agent=support");
    await page.waitForSelector(".run-words:has-text('One moment. Order A-17')");
    await page.goto(`${service.url}/console/sessions?session=ada&as=runs`);
    await page.waitForSelector(".run-words:has-text('One moment. Order A-17')");
  });

  it("a structured output is shown once", async () => {
    const page = await open(`runs/${runs.structured}`);
    await page.waitForSelector(".structured");
    await eventually(
      () => page.textContent(".conversation"),
      (it) => expect(it?.split("on its way").length).to.equal(2),
    );
  });

  it("a missing input is said at its field, which has the focus; nothing typed is lost", async () => {
    const page = await open("chat/concierge");
    await page.fill("#composer", "hello");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".field:has(input[aria-invalid=true]) .problem:has-text('guest is missing')");
    expect(await page.evaluate("document.activeElement.getAttribute('aria-invalid')")).to.equal("true");
    expect(await page.inputValue("#composer")).to.equal("hello");
    // Too long for the service, which names the input.
    await page.locator(".inputs input").fill("x".repeat(101));
    await page.click("[aria-label=Send]");
    await page.waitForSelector(".inputs .problem:has-text('guest')");
    expect(await page.locator(".problem.bar").count()).to.equal(0);
    await page.locator(".inputs input, .inputs textarea").last().fill("Ada");
    await page.click("[aria-label=Send]");
    await page.waitForSelector(".status.finished");
  });

  it("times are in one form, verdicts and workers in words", async () => {
    for (const path of [`runs/${runs.done}`, `runs/${runs.retracted}`, `runs/${runs.retracted}?view=trace`]) {
      const page = await open(path);
      await page.waitForSelector(".conversation, .wf-row");
      const text = await page.innerText("main");
      expect(text).not.to.match(/\b\d{4,} ms/);
      expect(text).not.to.match(/epoch|\bnothing\b/i);
    }
  });

  it("a stopped run is announced once, and not in red", async () => {
    const page = await open(`runs/${runs.stopped}`);
    await page.waitForSelector(".ending.cancelled");
    expect(await page.locator(".notice.error, .ending.failed").count()).to.equal(0);
  });

  it("the key signs out after a question", async () => {
    const page = await open("runs");
    await page.click(".rail-button[title^='Signed in']");
    await page.waitForSelector("dialog:has-text('Sign out?')");
    await page.keyboard.press("Escape");
    await page.waitForSelector(".row");
    await page.click(".rail-button[title^='Signed in']");
    await page.click("[data-act=confirm]");
    await page.waitForSelector(".key-form");
  });

  it("phones have the commands: every page, the theme and signing out", async () => {
    const page = await open("runs", { viewport: { width: 390, height: 844 }, hasTouch: true });
    for (const word of ["Schedules", "Webhooks", "Spend", "Service"]) {
      await page.tap(".rail-button:has-text('More')");
      await page.tap(`.palette [role=option]:has-text('${word}')`);
      await page.waitForSelector(`.page-head h1:has-text('${word}')`);
    }
    await page.tap(".rail-button:has-text('More')");
    for (const word of ["Theme: dark", "Sign out"]) {
      await eventually(
        () => page.locator(`.palette [role=option]:has-text('${word}')`).count(),
        (it) => expect(it).to.equal(1),
      );
    }
  });

  it("a finger can hit everything on a phone, on every page", async () => {
    const page = await open("runs", { viewport: { width: 390, height: 844 }, hasTouch: true });
    const found: string[] = [];
    for (const { name, path, ready, act } of pagesOf(runs)) {
      await page.goto(service.url + path);
      await page.waitForSelector(ready);
      await act?.(page);
      const small = await page.evaluate<
        string[]
      >(`[...document.querySelectorAll("button, select, summary, [role=tab], .button, input, .rail a")]
        .filter((each) => each.checkVisibility() && !each.closest(".hidden-text"))
        .flatMap((each) => {
          const { width, height } = each.getBoundingClientRect();
          const least = each.matches("[type=checkbox], [type=radio], [type=range]") ? 16 : 40;
          if (each.matches(".sentence") || width === 0 || (width >= least && height >= least)) return [];
          return [each.outerHTML.slice(0, 90) + " " + Math.round(width) + "x" + Math.round(height)];
        })`);
      found.push(...small.map((each) => `${name}: ${each}`));
    }
    expect(found).to.deep.equal([]);
  });

  it("a status is read once", async () => {
    const page = await open("runs");
    await page.waitForSelector(".row");
    const said = await page.evaluate<
      string[]
    >(`[...document.querySelectorAll(".row .status, .segmented button")].map((each) => {
      const clone = each.cloneNode(true);
      for (const hidden of clone.querySelectorAll("[aria-hidden=true]")) hidden.remove();
      return [clone.textContent, ...[...clone.querySelectorAll("[title]"), clone].map(({ title }) => title ?? "")].join(" ").trim();
    })`);
    expect(said.length).to.be.greaterThan(5);
    for (const words of said) expect(words).to.match(/^[A-Za-z]+( [a-z]+)?$/);
  });

  it("at 200 % of a laptop's window a chat keeps room for what is said", async () => {
    const page = await open("chat/support/ada", { viewport: { width: 640, height: 400 } });
    await page.waitForSelector(".approval");
    await eventually(
      () => heightOf(page, ".sticky-scroll .scroll"),
      (it) => expect(it).to.be.greaterThan(220),
    );
    await page.goto(`${service.url}/console/runs/${runs.done}`);
    await page.waitForSelector(".said");
    await eventually(
      () => heightOf(page, ".sticky-scroll .scroll"),
      (it) => expect(it).to.be.greaterThan(100),
    );
  });
});
