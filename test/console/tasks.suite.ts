import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { openBrowser, openTab, type Tab } from "./browser.ts";
import { type ConsoleService, consoleService } from "./service.ts";

const all = ["start", "see", "steer", "inspect", "approve"];
const keys = [
  { id: "ada", secret: "secret-of-ada-0000", may: all, tenant: "acme" },
  { id: "watch", secret: "secret-of-watch-00", may: all, tenant: "ops", tenants: "all" as const },
];
const [ada, operator] = keys.map(({ secret }) => secret) as [string, string]; // two

const most = 4;

/** A person at the page: everything that the hand does is counted. */
class Hand {
  actions = 0;
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async click(selector: string): Promise<void> {
    this.actions += 1;
    await this.page.locator(selector).first().click();
  }

  async fill(selector: string, text: string): Promise<void> {
    this.actions += 1;
    await this.page.locator(selector).first().fill(text);
  }

  async press(key: string): Promise<void> {
    this.actions += 1;
    await this.page.keyboard.press(key);
  }

  async choose(selector: string, value: string): Promise<void> {
    this.actions += 1;
    await this.page.selectOption(selector, value);
  }

  /** Looking is free. */
  async sees(selector: string): Promise<void> {
    await this.page.waitForSelector(selector);
  }
}

describe(`a task of the console takes at most ${most} actions from where a person lands`, function () {
  this.timeout(60_000);
  let service: ConsoleService;
  let browser: Browser;
  let tab: Tab;
  before(async () => {
    service = await consoleService({ keys });
    browser = await openBrowser();
    await ended("broken", "hello");
    await ended("echo", "a word ".repeat(60));
    await ended("support", "Where is order A-17?", { session: "trip" });
    await ended("support", "Where is order A-17? Please.", { session: "trip" });
  });
  after(async () => {
    await browser?.close();
    await service?.close();
  });
  const start = async (agent: string, input: string, more = {}) =>
    (await service.json<{ run: string }>("/v1/runs", { agent, input, ...more }, ada)).run;
  const reached = async (run: string) => {
    for (;;) {
      const { status } = await service.json<{ status: string }>(`/v1/runs/${run}`, undefined, ada);
      if (status !== "running" && status !== "ready") return status;
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
  };
  const ended = async (agent: string, input: string, more = {}) => {
    const run = await start(agent, input, more);
    await reached(run);
    return run;
  };
  const hand = async (secret = ada) => {
    tab = await openTab(browser, `${service.url}/console/`, { key: secret });
    await tab.page.waitForSelector("#composer");
    return new Hand(tab.page);
  };
  const places = (name: string) => `.rail a:has-text('${name}')`;
  const task = (name: string, secret: string, act: (hand: Hand) => Promise<unknown>) =>
    it(name, async () => {
      const person = await hand(secret);
      await act(person);
      await tab.expectClean();
      await tab.close();
      expect(person.actions).to.be.within(1, most);
    });
  const openRun = async (person: Hand, words = "Where is order") => {
    await person.click(places("Runs"));
    await person.click(`.row:has-text('${words}') .row-link`);
    await person.sees("#tab-trace");
  };

  task("to chat", ada, async (person) => {
    await person.fill("#composer", "Where is order A-17?");
    await person.press("Enter");
    await person.sees(".status.finished");
  });

  task("to find the slowest run, and why it was slow", ada, async (person) => {
    await person.click(places("Runs"));
    await person.choose("[aria-label=Order]", "longest");
    await person.page.waitForURL(/sort=longest/);
    await person.click(".row[data-row='0'] .row-link");
    await person.sees(".why");
  });

  task("to see what failed of one tenant in the last hour", operator, async (person) => {
    await person.click(places("Runs"));
    await person.fill("#search", "status:failed tenant:acme since:1h");
    await person.press("Enter");
    await person.sees(".row .status.failed");
    expect(await person.page.locator(".row .status:not(.failed)").count()).to.equal(0);
  });

  task("to approve with other arguments", ada, async (person) => {
    const run = await start("support", "I want a refund for order A-17");
    await reached(run);
    await person.click(places("Approvals"));
    await person.click("[data-act=edit]:not([disabled])");
    await person.fill(".arguments .field:has-text('amount') input", "200");
    await person.click("[data-act=approve]:not([disabled])");
    await person.sees(".receipts");
    expect(await reached(run)).to.equal("finished");
    const { events } = await service.json<{ events: { type: string; arguments?: { amount?: number } }[] }>(
      `/v1/runs/${run}/events?limit=1000`,
      undefined,
      ada,
    );
    expect(events.find(({ type }) => type === "approval.resolved")?.arguments?.amount).to.equal(200);
  });

  task("to fork a run and compare both", ada, async (person) => {
    await openRun(person);
    await person.click("button:has-text('Fork')");
    await person.click("dialog button[type=submit]");
    await person.sees(".figures");
  });

  task("to see a provider's bytes", ada, async (person) => {
    await openRun(person);
    await person.click("#tab-wire");
    await person.sees(".chunks td:has-text('message_start')");
  });

  task("to see what a tenant spent this week", operator, async (person) => {
    await person.click(places("Spend"));
    await person.choose(".page-facts select", "tenant");
    await person.sees(".spend tr:has(th:text-is('acme')) td:has-text('$')");
  });

  task("to stop a run", ada, async (person) => {
    const run = await start("counter", "count");
    await openRun(person, "count");
    await person.click("button.danger:has-text('Stop')");
    await person.sees(".ending.cancelled");
    expect(await reached(run)).to.equal("cancelled");
  });

  task("to see whether the service is well", ada, async (person) => {
    await person.click(places("Service"));
    await person.sees(".page-head .status.finished:has-text('Ready')");
    await person.sees(".status:has-text('calls go through')");
  });

  task("to share what one sees, by its address", ada, async (person) => {
    await openRun(person);
    await person.click("#tab-trace");
    await person.click(".wf-row:has-text('find_order')");
    await person.sees(".inspector:has-text('A-17')");
    const colleague = await openTab(browser, person.page.url(), { key: operator });
    await colleague.page.waitForSelector(".inspector:has-text('A-17')");
    await colleague.expectClean();
    await colleague.close();
  });

  task("to follow a run into Jaeger", ada, async (person) => {
    await openRun(person, "Please");
    const link = person.page.locator(".page-actions a[href^='http://127.0.0.1:16686/trace/']");
    expect(await link.getAttribute("target")).to.equal("_blank");
    person.actions += 1; // Jaeger itself is not there
  });

  task("to rate a run", ada, async (person) => {
    await openRun(person);
    await person.click("[data-rate=good]");
    await person.sees("[data-rate=good][aria-pressed=true]");
  });

  task("to change the prompt and run it again", ada, async (person) => {
    await person.click(places("Runs"));
    await person.click(".row:has-text('Please') [title='Edit and run again']");
    await person.fill("dialog .field:has-text('Instructions') textarea", "Answer like a pirate.");
    await person.click("dialog button[type=submit]");
    await person.sees(".diffed ins:has-text('pirate')");
  });

  task("to read a session as one conversation", ada, async (person) => {
    await person.click(places("Sessions"));
    await person.click(".row:has-text('trip') .row-link");
    await person.sees(".turn:nth-of-type(2) .message.user:has-text('Please')");
  });
});
