import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import type { Browser } from "playwright-core";
import { eventually, openBrowser, openTab, shows, type Tab } from "./browser.ts";
import { type ConsoleService, consoleService } from "./service.ts";

interface Row {
  readonly run: string;
  readonly status: string;
}

interface Page {
  readonly events: { readonly seq: number; readonly type: string; readonly [field: string]: unknown }[];
}

describe("the console in a browser", function () {
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
  const tab = (path = "/console/", options = {}): Promise<Tab> => openTab(browser, service.url + path, options);
  const start = (body: object) => service.json<Row>("/v1/runs", body);
  const ended = async (run: string) => {
    for (;;) {
      const { status } = await service.json<Row>(`/v1/runs/${run}`);
      if (["finished", "failed", "cancelled", "waiting"].includes(status)) return status;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const eventsOf = async (run: string) => (await service.json<Page>(`/v1/runs/${run}/events?limit=1000`)).events;

  it("chats: text, reasoning and calls stream, a call is approved, and the address can be sent to a colleague", async () => {
    const { page, expectClean, close } = await tab("/");
    await page.fill("#composer", "I want a refund for order A-17");
    await page.keyboard.press("Enter");
    await page.waitForSelector("text=needs approval");
    await shows(page, ".conversation", /Let me look at your order first/);
    await eventually(
      () => page.locator(".ribbon .seg").count(),
      (it) => expect(it).to.be.greaterThan(3),
    );
    await eventually(
      () => page.locator(".wf-row").count(),
      (it) => expect(it).to.be.greaterThan(4),
    );
    await page.click("[data-act=approve]");
    await page.waitForSelector("text=Is there anything else I can do for you?");
    await eventually(
      () => page.locator(".prose table td").allTextContents(),
      (it) => expect(it).to.include("a brass telescope"),
    );
    await eventually(
      () => page.locator(".prose li").count(),
      (it) => expect(it).to.equal(2),
    );
    await page.waitForSelector(".status.finished");
    const address = page.url();
    expect(address).to.match(/\/chat\/support\/console-/);
    const other = await tab(address.slice(service.url.length));
    await other.page.waitForSelector("text=Is there anything else I can do for you?");
    await other.expectClean();
    await other.close();
    await expectClean();
    await close();
  });

  it("steers and stops a run", async () => {
    const { page, expectClean, close } = await tab("/console/chat/counter");
    await page.fill("#composer", "count");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".status.running");
    await page.waitForSelector("textarea[aria-label='Steer the run']");
    await page.fill("#composer", "slower, please");
    await page.keyboard.press("Enter");
    await page.click("button:has-text('Stop')");
    await page.waitForSelector(".status.cancelled");
    await shows(page, ".ending", /stopped in the console/);
    await expectClean();
    await close();
  });

  it("takes the inputs of an agent as a form", async () => {
    const { page, close } = await tab("/console/chat/concierge");
    await page.fill(".inputs .field:has-text('guest') input", "Ada");
    await page.selectOption(".inputs select", "German");
    await page.fill("#composer", "hello");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".status.finished");
    const { runs } = await service.json<{ runs: Row[] }>("/v1/runs?agent=concierge");
    const [first] = await eventsOf(runs[0]?.run ?? "");
    expect(first?.input).to.deep.include({ variables: { guest: "Ada", language: "German" } });
    await close();
  });

  it("shows a run in every view, as it was at any event", async () => {
    const { run } = await start({ agent: "support", input: "Where is order A-17?", session: "ada-1" });
    expect(await ended(run)).to.equal("finished");
    const { page, expectClean, close } = await tab(`/console/runs/${run}`);
    await page.waitForSelector(".why");
    await shows(page, ".conversation", /One moment/);
    await page.click("#tab-trace");
    await page.click(".wf-row:has-text('find_order')");
    await page.waitForSelector(".inspector:has-text('A-17')");
    await eventually(
      () => page.url(),
      (it) => expect(it).to.match(/select=call/),
    );
    await page.click("#tab-events");
    await page.waitForSelector(".event-row:has-text('run.started')");
    await page.click(".event-row:has-text('tool.finished')");
    await page.waitForSelector(".inspector:has-text('brass telescope')");
    await page.click("#tab-request");
    await page.waitForSelector("text=As a command");
    await page.click("#tab-wire");
    const wires = await fetch(`${service.url}/v1/runs/${run}/wires`);
    await page.waitForSelector(wires.ok ? ".chunks td:has-text('find_order')" : "text=No bytes were kept");
    await page.click("#tab-conversation");
    const events = await eventsOf(run);
    const ready = events.find(({ type }) => type === "tool_call.ready")?.seq ?? 0;
    await page.goto(`${service.url}/console/runs/${run}?at=${ready}`);
    await page.waitForSelector(".scrubber.past");
    await page.waitForSelector(".conversation:has-text('One moment')");
    expect(await page.textContent(".conversation")).not.to.match(/Thursday/);
    await page.locator(".scrubber input").focus();
    await page.keyboard.press("End");
    await page.waitForSelector(".conversation:has-text('Thursday')");
    await expectClean();
    await close();
  });

  it("shows called runs in the trace, exact spans, bytes as hex with what they became, and makes a fixture", async () => {
    const { run } = await start({ agent: "manager", input: "Where is order A-17?" });
    expect(await ended(run)).to.equal("finished");
    const { page, expectClean, close } = await tab(`/console/runs/${run}?view=trace`);
    await page.waitForSelector(".wf-row:has-text('find_order')");
    await page.click("button:has-text('Exact spans')");
    await page.waitForSelector(".spans .wf-row:has-text('invoke_agent')");
    await page.locator(".spans .row").nth(2).click();
    await page.waitForSelector(".span-facts:has-text('took')");
    await eventually(
      () => page.url(),
      (it) => expect(it).to.match(/spans=1/),
    );
    await page.click("button:has-text('Steps')");
    await page.click(".wf-row:has-text('find_order')");
    await page.waitForURL((url) => !url.pathname.includes(run));
    await page.waitForSelector(".inspector:has-text('A-17')");
    await page.goto(`${service.url}/console/runs/${run}?view=wire`);
    const delta = page.locator(".chunks pre", { hasText: '"ask_support"' }).last();
    await delta.hover();
    await page.waitForSelector(".chunks mark:has-text('ask_support')");
    await page.locator(".chunks tr", { hasText: "ask_support" }).last().locator("td").nth(1).hover();
    await page.waitForSelector(".chunks td.lit");
    await page.click("button:has-text('Hex')");
    await page.waitForSelector(".chunks .hex:has-text('65 76 65 6e 74')");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("text=Make a fixture")]);
    expect(download.suggestedFilename()).to.equal(`${run}.yaml`);
    const fixture = readFileSync((await download.path()) ?? "", "utf8");
    expect(fixture)
      .to.match(/ask_support/)
      .and.match(/advance: round/);
    await expectClean();
    await close();
  });

  it("finds runs by filters written into the search, sorts them, and shows what they cost", async () => {
    const { run } = await start({ agent: "support", input: "Where is order A-17?", metadata: { customer: "Ada L." } });
    await ended(run);
    const { page, expectClean, close } = await tab("/console/runs");
    await page.waitForSelector(".row");
    await page.fill("#search", 'tool:find_order metadata.customer:"Ada L." telescope');
    await page.keyboard.press("Enter");
    await page.waitForSelector(".chip:has-text('metadata.customer: Ada L.')");
    await eventually(
      () => new URL(page.url()).search,
      (it) => expect(it).to.equal("?tool=find_order&metadata.customer=Ada+L.&q=telescope"),
    );
    await page.locator(".run-list .row").nth(1).waitFor({ state: "detached" });
    await shows(page, ".run-list .row", /\$0\.004/);
    await page.click(".chip:has-text('metadata.customer')");
    await page.locator(".run-list .row").nth(1).waitFor();
    await page.click("a:has-text('Clear')");
    await page.selectOption("[aria-label=Order]", "costliest");
    await page.waitForURL("**/runs?sort=costliest");
    await page.goto(`${service.url}/console/runs/${run}`);
    await page.waitForSelector(".fact:has-text('$0.004')");
    await expectClean();
    await close();
  });

  it("allows a tool for the whole run, and the journal says so", async () => {
    const { run } = await start({ agent: "support", input: "I want a refund for order A-17" });
    expect(await ended(run)).to.equal("waiting");
    const { page, expectClean, close } = await tab("/console/approvals");
    await page.waitForSelector("[data-act=allow]:not([disabled])");
    await page.keyboard.press("r");
    await page.waitForSelector("text=Nothing waits for you");
    await ended(run);
    const resolved = (await eventsOf(run)).find(({ type }) => type === "approval.resolved");
    expect(resolved).to.include({ approved: true, for: "run", by: "anyone" });
    await expectClean();
    await close();
  });

  it("shows the service's processes and the workers of its journal", async () => {
    const { page, expectClean, close } = await tab("/console/service");
    await page.waitForSelector(`.panel:has-text("Processes") :text("${service.pid()}")`);
    await page.waitForSelector(".panel:has-text('Workers of the journal') :text('this process')");
    await expectClean();
    await close();
  });

  it("lists runs, finds the failed ones, and tells of new ones without jumping", async () => {
    const { run } = await start({ agent: "broken", input: "hello" });
    await ended(run);
    const { page, expectClean, close } = await tab("/console/runs");
    await page.waitForSelector(".run-row .status.failed");
    await page.click("button:has-text('failed')");
    await page.waitForFunction(`document.querySelectorAll(".row .status.finished").length === 0`);
    await eventually(
      () => page.url(),
      (it) => expect(it).to.match(/status=failed/),
    );
    await page.click("a:has-text('Clear')");
    await page.waitForSelector(".row .status.finished");
    const first = await page.textContent("[data-row='0'] .run-words");
    await start({ agent: "support", input: "Where is order A-17?" });
    await page.waitForSelector(".fresh");
    expect(await page.textContent("[data-row='0'] .run-words")).to.equal(first);
    await page.click(".fresh");
    await page.waitForFunction(
      `document.querySelector("[data-row='0'] .run-words").textContent !== ${JSON.stringify(first)}`,
    );
    await page.click("[data-row='0'] .row-link");
    await page.waitForSelector("#tab-trace");
    await expectClean();
    await close();
  });

  it("forks a run with another result: the prefix is the same, no tool runs, and both are compared", async () => {
    const { run } = await start({ agent: "support", input: "Where is order A-17?" });
    await ended(run);
    const calls = () => readFileSync(`${service.folder}/calls.log`, "utf8");
    const before = calls();
    const { page, expectClean, close } = await tab(`/console/runs/${run}`);
    await page.waitForSelector(".why");
    await page.click("button:has-text('Fork')");
    await page.waitForSelector("dialog option", { state: "attached" });
    const steps = await page.locator("dialog select").first().locator("option").allTextContents();
    const step = steps.find((text) => text.includes("round.finished")) ?? "";
    await page.locator("dialog select").first().selectOption({ label: step });
    await page.fill("dialog textarea.mono", '{"order":"A-17","state":"lost"}');
    await page.click("dialog button[type=submit]");
    await page.waitForSelector(".figures");
    await page.waitForSelector("ins:has-text('lost')");
    const forked = new URL(page.url()).searchParams.get("b") ?? "";
    expect(await ended(forked)).to.equal("finished");
    const [one, other] = [await eventsOf(run), await eventsOf(forked)];
    const seq = Number(step.split(":")[0]);
    const shape = (events: Page["events"]) => events.slice(0, seq).map(({ seq: at, type }) => [at, type]);
    expect(shape(other)).to.deep.equal(shape(one));
    expect(other[0]?.fork).to.deep.equal({ run, after: seq });
    expect(calls()).to.equal(before);
    await expectClean();
    await close();
  });

  for (const [how, twice] of [
    ["two clicks", (page: Tab["page"]) => clickTwice(page)],
    ["two keys", (page: Tab["page"]) => pressTwice(page)],
  ] as const) {
    it(`${how} in a row answer one question, and an answer can be taken back before it is sent`, async () => {
      const runs = [];
      for (let count = 0; count < 2; count++) {
        const { run } = await start({ agent: "support", input: "I want a refund for order A-17" });
        expect(await ended(run)).to.equal("waiting");
        runs.push(run);
      }
      const { page, expectClean, close } = await tab("/console/approvals");
      await page.waitForSelector("[data-act=approve]:not([disabled])");
      await page.click("[data-act=approve]");
      await page.click("[data-act=undo]");
      await page.waitForSelector("[data-act=approve]:not([disabled])");
      await twice(page);
      await page.waitForSelector(".receipts");
      await page.waitForSelector("[data-act=next]");
      await page.keyboard.press("a");
      const answers = (await Promise.all(runs.map(eventsOf))).flat().filter(({ type }) => type === "approval.resolved");
      expect(answers).to.have.length(1);
      await page.click("[data-act=next]");
      await page.click("[data-act=deny]");
      await page.waitForSelector("text=Nothing waits for you");
      await expectClean();
      await close();
    });
  }

  it("says that the runs could not be read, and reads them again when asked; right-to-left text is laid out so", async () => {
    const { run } = await start({ agent: "support", input: "مرحبا" });
    await ended(run);
    const { page, close } = await tab("/console/service");
    const listed = /\/v1\/runs\?/;
    await page.route(listed, (route) =>
      route.fulfill({ status: 400, body: '{"error":{"op":"run.list","code":"internal","err":"no"}}' }),
    );
    await page.goto(`${service.url}/console/runs`);
    await page.waitForSelector("text=The runs could not be read");
    expect(await page.locator("text=No runs yet").count()).to.equal(0);
    await page.unroute(listed);
    await page.click("text=Try again");
    await page.waitForSelector(".row");
    await page.goto(`${service.url}/console/runs/${run}`);
    await page.waitForSelector("text=مرحبا");
    const said = `[...document.querySelectorAll('[dir="auto"]')].find((each) => each.textContent.includes("مرحبا"))`;
    const direction = await page.evaluate(`getComputedStyle(${said}).direction`);
    expect(direction).to.equal("rtl");
    await close();
  });

  it("edited arguments reach the tool, and both the request and the edit stand in the journal", async () => {
    const { run } = await start({ agent: "support", input: "I want a refund for order A-17" });
    expect(await ended(run)).to.equal("waiting");
    const { page, expectClean, close } = await tab("/console/approvals");
    await page.click("[data-act=edit]");
    await page.fill(".arguments .field:has-text('amount') input", "-5");
    await page.click("[data-act=approve]");
    await page.waitForSelector(".problem");
    await page.fill(".arguments .field:has-text('amount') input", "101");
    await eventually(
      () => page.locator(".field.changed").count(),
      (it) => expect(it).to.equal(1),
    );
    await page.click("[data-act=approve]");
    await page.waitForSelector("text=Nothing waits for you");
    const events = await eventsOf(run);
    const resolved = events.find(({ type }) => type === "approval.resolved");
    expect(resolved?.arguments).to.deep.equal({ order: "A-17", amount: 101 });
    expect(events.find(({ type }) => type === "approval.requested")?.arguments).to.deep.include({ amount: 240 });
    expect(readFileSync(`${service.folder}/calls.log`, "utf8")).to.match(
      /refund_order \{"order":"A-17","amount":101\}\n$/,
    );
    await expectClean();
    await close();
  });

  it("two people race for an answer: one sees that the other was faster", async () => {
    const { run } = await start({ agent: "support", input: "I want a refund for order A-17" });
    expect(await ended(run)).to.equal("waiting");
    const [one, other] = [await tab(`/console/approvals`), await tab(`/console/approvals`)];
    for (const { page } of [one, other]) await page.waitForSelector("[data-act=approve]:not([disabled])");
    // Not `click`, which waits until the button stands still: by then the other answer may have taken it away.
    const press = ({ page }: typeof one, act: string) => page.dispatchEvent(`[data-act=${act}]`, "click");
    await Promise.all([press(one, "approve"), press(other, "deny")]);
    const told = await Promise.race(
      [one, other].map(({ page }) => page.waitForSelector(".toast").then((toast) => toast.textContent())),
    );
    expect(told).to.match(/Somebody answered this before you/);
    for (const { page } of [one, other]) await page.waitForSelector("text=Nothing waits for you");
    const answers = (await eventsOf(run)).filter(({ type }) => type === "approval.resolved");
    expect(answers.length).to.equal(1);
    await one.close();
    await other.close();
  });

  it("commands and keys reach every page without a mouse", async () => {
    const { run } = await start({ agent: "support", input: "Where is order A-17?" });
    await ended(run);
    const { page, expectClean, close } = await tab("/console/runs");
    await page.waitForSelector(".row");
    for (const [keys, address] of [
      ["gc", "/chat"],
      ["gt", "/sessions"],
      ["ga", "/approvals"],
      ["gs", "/service"],
      ["gr", "/runs"],
    ] as const) {
      for (const key of keys) await page.keyboard.press(key);
      await page.waitForURL(`**/console${address}`);
      await page.evaluate("document.activeElement.blur()");
    }
    await page.waitForSelector(".row");
    for (let press = 0; press < 40; press += 1) {
      await page.keyboard.press("Tab");
      if (await page.evaluate(`document.activeElement.getAttribute("role") === "row"`)) break;
    }
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/console/runs/run_*");
    await page.waitForSelector(".conversation");
    await page.keyboard.press("2");
    await page.waitForSelector(".wf-row");
    for (let press = 0; press < 40; press += 1) {
      await page.keyboard.press("Tab");
      if (await page.evaluate(`document.activeElement.textContent === "Exact spans"`)) break;
    }
    await page.keyboard.press("Enter");
    await page.waitForSelector(".spans .wf-row");
    await page.keyboard.press("3");
    await page.waitForSelector(".event-row");
    await page.keyboard.press("[");
    await page.waitForSelector(".scrubber.past");
    await page.keyboard.press("]");
    await page.keyboard.press("Control+k");
    await page.waitForSelector("dialog.palette");
    await page.keyboard.type("approv");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/console/approvals");
    await expectClean();
    await close();
  });

  it("adds an ended run to a dataset, once", async () => {
    const { run } = await start({ agent: "support", input: "Where is order A-17?" });
    await ended(run);
    const { page, expectClean, close } = await tab(`/console/runs/${run}`);
    const add = async (name: string) => {
      await page.click("button[data-act=dataset]");
      await page.fill("dialog input[name=dataset]", name);
      await page.fill("dialog input[name=note]", "<b>the order was late</b>");
      await page.click("dialog button[data-act=add-to-dataset]");
    };
    await add("late-orders");
    await page.waitForSelector("dialog", { state: "detached" });
    const line = readFileSync(join(service.folder, "cases", "late-orders.jsonl"), "utf8");
    expect(JSON.parse(line)).to.deep.equal({
      file: `late-orders.runs/${run}.jsonl`,
      note: "<b>the order was late</b>",
    });
    await expectClean(); // what follows is refused, and browsers log that
    await add("late-orders");
    await page.waitForSelector("dialog .problem:has-text('already')");
    await eventually(
      () => page.locator("dialog datalist option[value=late-orders]").count(),
      (it) => expect(it).to.equal(1),
    );
    await close();
  });

  it("erases an ended run after asking", async () => {
    const { run } = await start({ agent: "broken", input: "hello" });
    await ended(run);
    const { page, close } = await tab(`/console/runs/${run}`);
    await page.click("button[aria-label='Erase this run']");
    await page.click("dialog button:has-text('Erase')");
    await page.waitForURL("**/console/runs");
    expect((await fetch(`${service.url}/v1/runs/${run}`)).status).to.equal(404);
    await close();
  });

  it("shows what was spent, by model and by agent, as the report has it", async () => {
    const { run } = await start({ agent: "support", input: "Where is order A-17?" });
    await ended(run);
    const { page, expectClean, close } = await tab("/console/spend");
    await page.waitForSelector("table.spend tfoot");
    const report = await service.json<{ rows: { agent: string; generations: number }[] }>(
      "/v1/usage?by=agent&since=7d",
    );
    await page.selectOption("select >> nth=0", "agent");
    await page.waitForSelector("table.spend tbody th:has-text('support')");
    const row = page.locator("table.spend tbody tr", { hasText: "support" }).first();
    const generations = report.rows.find(({ agent }) => agent === "support")?.generations;
    await eventually(
      () => row.locator("td").nth(1).textContent(),
      (it) => expect(it).to.equal(String(generations)),
    );
    await expectClean();
    await close();
  });

  it("needs no host but its own", async () => {
    const { page, expectClean, close } = await tab("/console/");
    await page.waitForSelector("#composer");
    const hosts = await page.evaluate<string[]>(
      `performance.getEntriesByType("resource").map(({ name }) => new URL(name).host)`,
    );
    expect([...new Set(hosts)]).to.deep.equal([new URL(service.url).host]);
    await expectClean();
    await close();
  });
});

/** At one place of the screen, as a hand would, a third of a second apart. */
async function clickTwice(page: Tab["page"]): Promise<void> {
  const box = await page.locator("[data-act=approve]").boundingBox();
  const [x, y] = [(box?.x ?? 0) + 10, (box?.y ?? 0) + 10];
  await page.mouse.click(x, y);
  await new Promise((resolve) => setTimeout(resolve, 350));
  await page.mouse.click(x, y);
}

async function pressTwice(page: Tab["page"]): Promise<void> {
  await page.keyboard.press("a");
  await new Promise((resolve) => setTimeout(resolve, 350));
  await page.keyboard.press("a");
}
