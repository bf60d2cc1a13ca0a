import { execFileSync } from "node:child_process";
import { expect } from "chai";
import type { Page } from "playwright-core";
import { consolePages, eventually, shows } from "./browser.ts";
import { type ConsoleService, consoleService } from "./service.ts";

interface Row {
  readonly run: string;
  readonly status: string;
  readonly digest?: { readonly cancelledBy?: string };
}

const all = ["start", "see", "steer", "inspect", "approve"];
const keys = [
  { id: "ada", secret: "secret-of-ada-0000", may: all, tenant: "acme" },
  { id: "bob", secret: "secret-of-bob-0000", may: all, tenant: "bolt" },
  { id: "watch", secret: "secret-of-watch-00", may: all, tenant: "ops", tenants: "all" as const },
  { id: "viewer", secret: "secret-of-viewer-0", may: ["see"], tenant: "acme" },
];
const [ada, bob, operator, viewer] = keys.map(({ secret }) => secret) as [string, string, string, string]; // four

describe("what people do in the console", function () {
  this.timeout(60_000);
  let service: ConsoleService;
  before(async () => {
    service = await consoleService({ keys });
  });
  after(() => service?.close());
  const pages = consolePages(() => service.url);
  const open = (secret: string, path: string, options = {}): Promise<Page> => pages(path, { ...options, key: secret });
  const start = (secret: string, body: object) => service.json<Row>("/v1/runs", body, secret);
  const reached = async (run: string, secret = operator): Promise<Row> => {
    for (;;) {
      const row = await service.json<Row>(`/v1/runs/${run}`, undefined, secret);
      if (["finished", "failed", "cancelled", "waiting"].includes(row.status)) return row;
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
  };
  const ended = async (secret: string, body: object) => {
    const { run } = await start(secret, body);
    await reached(run);
    return run;
  };
  const order = "Where is order A-17?";
  /** Asked from here: the page's policy lets nothing be evaluated in it again and again. */
  const until = async (page: Page, expression: string) => {
    for (let turn = 0; turn < 300; turn += 1) {
      if (await page.evaluate<boolean>(expression)) return;
      await page.waitForTimeout(50);
    }
    throw new Error(`never true: ${expression}`);
  };

  it("1: several approvals are given together, after a list of what they cover; rows show what the tool names", async () => {
    const runs = [];
    for (let made = 0; made < 3; made += 1) {
      runs.push(await ended(ada, { agent: "support", input: "I want a refund for order A-17" }));
    }
    const page = await open(ada, "approvals");
    await page.waitForSelector(".question-line");
    await eventually(
      () => page.locator(".question-line").first().textContent(),
      (it) => expect(it).to.match(/order\s*A-17.*amount\s*240/),
    );
    await page.click("text=all 3 of refund_order");
    await page.click("[data-act=approve-chosen]");
    await eventually(
      () => page.locator(".covered li").count(),
      (it) => expect(it).to.equal(3),
    );
    await page.waitForSelector("[data-act=batch]:not([disabled])");
    await page.click("[data-act=batch]");
    await page.click("[data-act=undo]");
    await page.waitForTimeout(300);
    expect((await service.json<{ approvals: unknown[] }>("/v1/approvals", undefined, ada)).approvals.length).to.equal(
      3,
    );
    await page.click("[data-act=batch]");
    await until(page, "document.querySelectorAll('.receipts li').length === 3");
    for (const run of runs) expect((await reached(run)).status).to.equal("finished");
  });

  it("3: an operator's key sees whose runs they are, and is not offered what it may not do to them", async () => {
    const { run } = await start(bob, { agent: "support", input: "I want a refund for order A-17" });
    await reached(run);
    const page = await open(operator, "runs");
    await page.waitForSelector(".row .tag:has-text('bolt')");
    await page.goto(`${service.url}/console/approvals`);
    await page.waitForSelector("text=Nothing waits for you");
    await page.goto(`${service.url}/console/runs/${run}`);
    await page.waitForSelector("text=Your key may not approve this call");
    await page.waitForTimeout(300);
    expect(await page.locator("[data-act=approve]").count()).to.equal(0);
    expect(await page.locator("button:has-text('Fork'), button:has-text('Stop'), [title=Erase]").count()).to.equal(0);
    await service.json(`/v1/runs/${run}/cancel`, {}, bob);
  });

  it("4: a fork's instructions stand beside the original's", async () => {
    const run = await ended(ada, { agent: "support", input: order });
    const fork = await service.json<Row>(
      `/v1/runs/${run}/fork`,
      { after: 1, instructions: "Answer like a pirate." },
      ada,
    );
    await reached(fork.run);
    const page = await open(ada, `compare?a=${run}&b=${fork.run}`);
    await page.waitForSelector(".diffed:has-text('Instructions') ins:has-text('pirate')");
    await shows(page, ".figures", /Cost/);
  });

  it("8: the prompt of each round beside the one before, and a command that works", async () => {
    const run = await ended(ada, { agent: "support", input: order });
    const page = await open(ada, `runs/${run}?view=request`, { permissions: ["clipboard-read", "clipboard-write"] });
    await page.click("button:has-text('Round 2')");
    await page.waitForSelector(".prompt-same:has-text('1 as in round 1')");
    await shows(page, ".prompt-head", /as sent/);
    await eventually(
      () => page.locator(".prompt-messages .added").count(),
      (it) => expect(it).to.equal(2),
    );
    await shows(page, ".request", /Refund only what they ask for/);
    await page.click("[aria-label='Copy the command']");
    const command = await page.evaluate<string>("navigator.clipboard.readText()");
    expect(command).not.to.include(ada);
    const said = execFileSync("sh", ["-c", command], { env: { ...process.env, VENTURI_KEY: ada }, encoding: "utf8" });
    expect(said).to.match(/run\.finished/);
    const fork = await service.json<Row>(`/v1/runs/${run}/fork`, { after: 1, instructions: "Be brief." }, ada);
    await reached(fork.run);
    await page.goto(`${service.url}/console/runs/${fork.run}?view=request`);
    await page.waitForSelector("pre:has-text('Be brief.')");
    await page.click("[aria-label='Copy the command']");
    const again = await page.evaluate<string>("navigator.clipboard.readText()");
    expect(again).to.include(`/v1/runs/${run}/fork`);
    expect(execFileSync("sh", ["-c", again], { env: { ...process.env, VENTURI_KEY: ada }, encoding: "utf8" })).to.match(
      /"run":"run_/,
    );
  });

  it("9: a stopped run is not a failed one, says who stopped it, and x asks first", async () => {
    const { run } = await start(ada, { agent: "counter", input: "count" });
    const page = await open(ada, `runs/${run}`);
    await page.waitForSelector(".status.running");
    await page.keyboard.press("x");
    await page.waitForSelector("dialog:has-text('Stop this run?')");
    await page.keyboard.press("Escape");
    await until(page, "document.querySelector('[data-act=confirm]') === null");
    expect((await service.json<Row>(`/v1/runs/${run}`, undefined, ada)).status).to.equal("running");
    await page.keyboard.press("x");
    await page.click("[data-act=confirm]");
    await page.waitForSelector(".ending.cancelled:has-text('Stopped by ada')");
    expect((await reached(run)).digest?.cancelledBy).to.equal("ada");
    await page.goto(`${service.url}/console/runs`);
    await page.click("button:has-text('stopped')");
    await page.waitForSelector(".row .status.cancelled");
    expect(await page.locator(".row .status.failed, .row .status.finished").count()).to.equal(0);
    await page.click("button:has-text('failed')");
    await until(page, "document.querySelectorAll('.row .status.cancelled').length === 0");
  });

  it("10: an operator sees the sessions of all tenants; 24: a session is one transcript", async () => {
    await ended(bob, { agent: "support", input: order, session: "trip" });
    await ended(bob, { agent: "support", input: `${order} Please.`, session: "trip" });
    const page = await open(operator, "sessions");
    await page.click(".row:has-text('trip') .row-link");
    await until(page, "document.querySelectorAll('.turn .message.user').length === 2");
    await shows(page, ".sticky-scroll", /A-17\?[\s\S]*Please\./);
  });

  it("11, 12: new runs are all counted; rows are links, and another tab is signed in", async () => {
    const page = await open(ada, "runs");
    await page.waitForSelector(".row");
    await page.route("**/v1/runs?*", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response });
    });
    for (let made = 0; made < 55; made += 1) await start(ada, { agent: "echo", input: `fresh ${made}` });
    await until(page, "/^(5[1-9]|50\\+|5\\d\\+?) new/.test(document.querySelector('.fresh')?.textContent ?? '')");
    const popup = page.context().waitForEvent("page");
    await page
      .locator(".row .row-link")
      .first()
      .click({ modifiers: ["Control"] });
    const other = await popup;
    await other.waitForSelector("#tab-trace");
    await eventually(
      () => page.url(),
      (it) => expect(it).to.match(/\/runs$/),
    );
    await other.close();
  });

  it("13, 14: back keeps the scroll; j, k and Enter after g r; ? shows the keys", async () => {
    // More than a screen of runs, however many the tests before have left.
    for (let made = 0; made < 55; made += 1) await start(ada, { agent: "echo", input: `row ${made}` });
    const page = await open(ada, "chat");
    await page.waitForSelector("#composer");
    await page.evaluate("document.activeElement.blur()");
    await page.keyboard.press("g");
    await page.keyboard.press("r");
    await page.waitForSelector(".row");
    await page.keyboard.press("j");
    await until(page, "document.activeElement?.dataset.row === '0'");
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    await page.keyboard.press("j");
    await until(page, "document.activeElement?.dataset.row === '1'");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#tab-trace");
    await page.keyboard.press("?");
    await page.waitForSelector(".key-sheet:has-text('Next error')");
    await page.keyboard.press("Escape");
    await page.goBack();
    await page.waitForSelector(".run-list .row");
    await page.evaluate("document.querySelector('.run-list').scrollTop = 900");
    await page.waitForTimeout(250);
    await page.locator(".run-list .row:not([data-row='0']) .row-link").nth(14).click();
    await page.waitForSelector("#tab-trace");
    await page.goBack();
    await page.waitForSelector(".run-list .row");
    expect(await page.evaluate("document.querySelector('.run-list').scrollTop")).to.be.within(850, 950);
  });

  it("15: the search completes names and values; a date range and a saved view are in the address", async () => {
    await ended(ada, { agent: "broken", input: "x" });
    const page = await open(ada, "runs");
    await page.waitForSelector(".row");
    await page.locator("#search").pressSequentially("sta");
    await page.keyboard.press("Tab");
    await page.locator("#search").pressSequentially("fa");
    await page.waitForSelector("#completions :text('status:failed')");
    await page.keyboard.press("Tab");
    await page.waitForURL(/status=failed/);
    await page.fill("#search", "since:1h");
    await page.keyboard.press("Enter");
    await page.waitForURL(/since=1h/);
    await page.waitForSelector(".row .status.failed");
    await page.click("text=Save view");
    await page.fill("[aria-label='Name of the view']", "failing");
    await page.keyboard.press("Enter");
    await page.selectOption("[aria-label=When]", "range");
    await page.fill("[aria-label=From]", "2030-01-01T00:00");
    await page.keyboard.press("Enter");
    await page.waitForSelector("text=No run matches");
    await page.click(".views a:has-text('failing')");
    await page.waitForURL(
      (url) => url.searchParams.get("since") === "1h" && url.searchParams.get("status") === "failed",
    );
    await page.waitForSelector(".row .status.failed");
  });

  it("16, 17: a trace is linked to where traces are seen; a key lands on a page that it may use", async () => {
    const run = await ended(ada, { agent: "echo", input: "hi" });
    const [first] = (
      await service.json<{ events: { trace?: string }[] }>(`/v1/runs/${run}/events?limit=1`, undefined, ada)
    ).events;
    const page = await open(viewer, "");
    await page.waitForSelector(".page-head:has-text('Runs')");
    await eventually(
      () => page.title(),
      (it) => expect(it).to.equal("Runs · Venturi"),
    );
    await page.goto(`${service.url}/console/runs/${run}`);
    const id = first?.trace?.split("-")[1] ?? "none";
    await page.waitForSelector(`a[href="http://127.0.0.1:16686/trace/${id}"]`);
  });

  it("18: edited arguments and their button are in view at 1280 × 800", async () => {
    const { run } = await start(ada, { agent: "support", input: "I want a refund for order A-17" });
    await reached(run);
    const page = await open(ada, "approvals");
    await page.waitForSelector("[data-act=edit]:not([disabled])");
    await page.click("[data-act=edit]");
    const box = await page.locator("[data-act=approve]").boundingBox();
    await shows(page, "[data-act=approve]", /with edits/);
    expect((box?.y ?? 999) + (box?.height ?? 0)).to.be.at.most(800);
    await service.json(`/v1/runs/${run}/cancel`, {}, ada);
  });

  it("19: an event leads to its bytes, and they lead back", async () => {
    const run = await ended(ada, { agent: "support", input: order });
    const page = await open(ada, `runs/${run}?view=events`);
    await page.click(".event-row:has-text('tool_call.started')");
    await page.click("button:has-text('Its bytes')");
    await page.waitForSelector(".chunks tr.wanted:has-text('find_order')");
    await page.locator(".chunks tr.wanted a:has-text('event')").first().click();
    await page.waitForSelector(".inspector:has-text('tool_call.started')");
  });

  it("2, 23: a sentence of why lights its stretch; a slow run says what was slower than usual", async () => {
    for (let made = 0; made < 4; made += 1) await ended(ada, { agent: "echo", input: "hi" });
    const run = await ended(ada, { agent: "echo", input: "a word ".repeat(120) });
    const page = await open(ada, `runs/${run}`);
    await page.waitForSelector(".why .slower");
    await shows(page, ".slower", /Slower than usual .* because .* took .* instead of/);
    await page.locator(".why .sentence").first().click();
    await page.waitForSelector(".ribbon .seg.lit");
    await eventually(
      () => page.locator(".ribbon .seg.dim").count(),
      (it) => expect(it).to.be.greaterThan(0),
    );
  });

  it("20, 22: a message is changed and run again in variants with their cost; a run and an answer are rated", async () => {
    const run = await ended(ada, { agent: "support", input: order });
    const page = await open(ada, `runs/${run}`);
    await page.click("button:has-text('Edit and run again')");
    await page.fill("dialog textarea", "Where is order A-17, please?");
    await page.fill("dialog label:has-text('Variants') input", "2");
    await page.click("button:has-text('Run again and compare')");
    await until(page, "document.querySelectorAll('.variants tbody tr').length === 3");
    await until(
      page,
      "[...document.querySelectorAll('.variants tbody tr')].every((row) => row.textContent.includes('$'))",
    );
    await page.goto(`${service.url}/console/runs/${run}`);
    await page.click(".run-page > .rating [data-rate=bad]");
    await page.click(".run-page > .rating button:has-text('Note')");
    await page.fill("[aria-label=Note]", "wrong date");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".note:has-text('wrong date')");
    await page.locator(".said [data-rate=good]").last().click();
    await page.waitForSelector(".said [data-rate=good][aria-pressed=true]");
    await page.goto(`${service.url}/console/runs?label=bad`);
    await until(page, "document.querySelectorAll('.row').length === 1");
  });

  it("21: totals of the filter, in groups; a stretch of the chart becomes the time range", async () => {
    await ended(ada, { agent: "broken", input: "x" });
    // A bar of the chart is a second at least.
    await new Promise((resolve) => setTimeout(resolve, 2100));
    await ended(ada, { agent: "echo", input: "x" });
    const page = await open(operator, "runs");
    await page.waitForSelector(".totals dd");
    await page.selectOption("[aria-label='Group by']", "tenant");
    await page.waitForSelector(".groups th:has-text('acme')");
    await page.selectOption("[aria-label='Group by']", "cause");
    await page.waitForSelector(".groups tbody tr");
    const { all } = await service.json<{ all: { runs: number; failed: number } }>(
      "/v1/totals?status=failed",
      undefined,
      operator,
    );
    expect(all.runs).to.equal(all.failed).and.be.greaterThan(0);
    const box = await page.locator(".brush").boundingBox();
    if (box === null) throw new Error("no chart");
    await page.mouse.move(box.x + 2, box.y + 10);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2, box.y + 10);
    await page.mouse.up();
    await page.waitForURL(/since=.*until=/);
  });

  it("25: the latest is one click away from where the reader has scrolled to", async () => {
    const run = await ended(ada, { agent: "echo", input: "line\n\n".repeat(200) });
    const page = await open(ada, `runs/${run}`);
    await page.click(".to-latest");
    await until(page, "document.querySelector('.to-latest') === null");
    await eventually(
      () => page.title(),
      (it) => expect(it).to.match(/^(\(\d+\) )?echo run_.* · Venturi$/),
    );
  });
});
