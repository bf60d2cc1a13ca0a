import { expect } from "chai";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: process.env.VENTURI_BROWSER ?? "",
    // A container has no user namespaces for Chromium's own sandbox.
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
  });

/** A tab, and everything about it that must not happen. */
export interface Tab {
  readonly page: Page;
  /** Fails when the page has logged an error, asked another host, opened a dialog or broken its own policy. */
  expectClean(): Promise<void>;
  close(): Promise<void>;
}

export async function openTab(
  browser: Browser,
  url: string,
  { key, ...options }: BrowserContextOptions & { readonly key?: string } = {},
): Promise<Tab> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    reducedMotion: "reduce",
    ...options,
  });
  const { host } = new URL(url);
  const wrong: string[] = [];
  await context.route(
    (address) => address.host !== host && address.protocol.startsWith("http"),
    (route) => {
      wrong.push(`asked ${route.request().url()}`);
      return route.abort();
    },
  );
  const page = await context.newPage();
  page.on("console", (message) => {
    // Refused requests are part of some tests; the network's own line about them is no fault of the page.
    if (
      message.type() === "error" &&
      !message.text().startsWith("Failed to load resource") &&
      !/WebSocket connection/.test(message.text())
    ) {
      wrong.push(`logged ${message.text()}`);
    }
  });
  page.on("pageerror", (error) => wrong.push(`threw ${error.stack ?? error.message}`));
  page.on("dialog", (dialog) => {
    wrong.push(`opened a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("popup", () => wrong.push("opened a window"));
  await page.addInitScript(`
    globalThis.violations = [];
    addEventListener("securitypolicyviolation", (event) =>
      violations.push(event.violatedDirective + " " + event.sourceFile + ":" + event.lineNumber));
  `);
  // As if it had been entered: a service counts the requests that come without one.
  if (key !== undefined) await page.addInitScript(`sessionStorage.setItem("venturi.key", ${JSON.stringify(key)})`);
  await page.goto(url);
  return {
    page,
    expectClean: async () => {
      const violations = await page.evaluate<string[]>("globalThis.violations");
      expect([...wrong, ...violations]).to.deep.equal([]);
    },
    close: () => context.close(),
  };
}

/** Reads again until the check passes: a page goes on loading after the selector that a test has waited for is there. */
export async function eventually<T>(read: () => T | Promise<T>, check: (value: T) => void): Promise<void> {
  for (let turn = 0; ; turn += 1) {
    const value = await read();
    try {
      return check(value);
    } catch (error) {
      if (turn === 300) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** Waits until an element's text is as said. */
export const shows = (page: Page, selector: string, text: string | RegExp): Promise<void> =>
  eventually(
    () => page.textContent(selector),
    (it) => (typeof text === "string" ? expect(it).to.include(text) : expect(it).to.match(text)),
  );

/** Opens pages of the console in a browser for the suite; after each test they are checked and closed. */
export function consolePages(url: () => string) {
  const tabs: Tab[] = [];
  let browser: Browser;
  before(async () => {
    browser = await openBrowser();
  });
  after(() => browser?.close());
  afterEach(async () => {
    for (const tab of tabs.splice(0)) {
      await tab.expectClean();
      await tab.close();
    }
  });
  return async (path: string, options: Parameters<typeof openTab>[2] = {}): Promise<Page> => {
    const tab = await openTab(browser, `${url()}/console/${path}`, options);
    tabs.push(tab);
    await tab.page.waitForSelector(".rail");
    return tab.page;
  };
}
