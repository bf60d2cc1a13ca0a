import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { build, type StdinOptions } from "esbuild";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { VenturiClient } from "../../src/client/client.ts";
import { Restartable } from "../client/restartable.ts";
import { blocksOf } from "../docs/pages.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** `VENTURI_BROWSER`, else a Chromium of the PATH. */
function browserPath(): string | undefined {
  if (process.env.VENTURI_BROWSER !== undefined) return process.env.VENTURI_BROWSER;
  const folders = (process.env.PATH ?? "").split(delimiter);
  const names = ["chromium-headless-shell", "chromium", "google-chrome"];
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
}

async function bundled(stdin: StdinOptions): Promise<string> {
  const bundle = await build({
    stdin,
    bundle: true,
    format: "esm",
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"development"' }, // StrictMode mounts twice in development alone
    write: false,
  });
  return bundle.outputFiles[0]?.text ?? "";
}

describe("venturi/react in a browser", function () {
  this.timeout(60_000);
  const executablePath = browserPath();
  let pages: Server;
  let service: Restartable;
  let browser: Browser;
  let context: BrowserContext;
  let direct: VenturiClient;
  let requests: string[];
  let complaints: string[];
  let count = 0;
  let test: string;
  let script: string;

  before(async function () {
    if (executablePath === undefined) return this.skip();
    test = await bundled({ contents: 'import "./test/react/page.mjs";', resolveDir: root });
    pages = createServer((request, response) => {
      if (request.url?.startsWith("/page.js")) response.setHeader("content-type", "text/javascript").end(script);
      else
        response
          .setHeader("content-type", "text/html")
          .end('<link rel="icon" href="data:,"><div id="root"></div><script type="module" src="/page.js"></script>');
    });
    pages.listen(0, "127.0.0.1");
    await once(pages, "listening");
    // The page is of another origin than the service, as in development.
    service = await Restartable.start(`, cors: { origins: ["${origin()}"] }`);
    direct = new VenturiClient({ url: service.url });
    browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  });
  beforeEach(async () => {
    context = await browser.newContext();
    script = test;
    requests = [];
    complaints = [];
  });
  afterEach(async () => {
    await context?.close();
  });
  after(async () => {
    await browser?.close();
    await service?.stop();
    pages?.close();
  });

  const origin = (): string => `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  const open = async (query: Record<string, string>): Promise<Page> => {
    const page = await context.newPage();
    page.on("request", (request) => requests.push(`${request.method()} ${new URL(request.url()).pathname}`));
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    await page.goto(`${origin()}/?${new URLSearchParams({ service: service.url, ...query })}`);
    return page;
  };
  const newSession = (): string => `s-${Date.now()}-${++count}`;
  const textOf = (page: Page, selector: string): Promise<string> => page.locator(selector).innerText();
  const turnsOf = (page: Page): Promise<string[]> => page.locator("#turns li").allInnerTexts();
  const words = async (page: Page, least: number): Promise<void> => {
    await page.waitForFunction(`(document.querySelector("#current")?.innerText ?? "").split(" ").length >= ${least}`);
  };
  const turns = (page: Page, number: number) =>
    page.waitForFunction(
      `document.querySelectorAll("#turns li").length === ${number} && !document.querySelector("#current")`,
    );
  const outputs = async (session: string): Promise<(string | undefined)[]> =>
    (await direct.session(session)).runs.map((turn) => turn.output);

  for (const transport of ["sse", "websocket"]) {
    it(`a turn is started once and followed once under StrictMode (${transport})`, async () => {
      const session = newSession();
      const page = await open({ session, transport });
      await page.waitForFunction('document.querySelector("#state").innerText === "ready"');
      await page.click("#send");
      await words(page, 5);
      await turns(page, 1);
      expect(await turnsOf(page)).to.deep.equal((await outputs(session)).map((text) => text?.trim()));
      expect(requests.filter((request) => request === "POST /v1/runs").length).to.equal(1);
      const followed = requests.filter((request) => /^GET .*\/events$/.test(request)).length;
      expect(followed).to.equal(transport === "sse" ? 1 : 0);
      // A session that does not exist yet is a 404, which a browser logs.
      expect(complaints.filter((line) => !line.includes("404"))).to.deep.equal([]);
    });

    it(`a reload in the middle loses and repeats nothing (${transport})`, async () => {
      const session = newSession();
      const page = await open({ session, transport });
      await page.click("#send");
      await words(page, 5);
      await page.reload(); // in the middle, surely
      await page.waitForFunction('document.querySelector("#current, #turns li")');
      await page.reload(); // perhaps
      await turns(page, 1);
      expect(await turnsOf(page)).to.deep.equal((await outputs(session)).map((text) => text?.trim()));
    });

    it(`two tabs show the same conversation, whichever goes on with it (${transport})`, async () => {
      const session = newSession();
      const [first, second] = [await open({ session, transport }), await open({ session, transport })];
      await first.click("#send");
      await words(second, 5);
      await turns(second, 1);
      await turns(first, 1);
      await second.click("#send");
      await words(first, 5);
      await turns(first, 2);
      await turns(second, 2);
      const said = (await outputs(session)).map((text) => text?.trim());
      expect(await turnsOf(first)).to.deep.equal(said);
      expect(await turnsOf(second)).to.deep.equal(said);
    });

    it(`two tabs see a question come and go (${transport})`, async () => {
      const session = newSession();
      const [first, second] = [await open({ session, transport, agent: "asks" }), await open({ session, transport })];
      await first.click("#send");
      for (const page of [first, second]) await page.waitForSelector("#approvals li");
      const call = await second.locator("#approvals li").getAttribute("data-call");
      const { runs } = await direct.runs({ session });
      await direct.run(runs[0]?.run ?? "").approve(call ?? "");
      await first.waitForSelector("#approvals li", { state: "detached" });
      await second.waitForSelector("#approvals li", { state: "detached" });
      await turns(first, 1);
      const view = await open({ run: runs[0]?.run ?? "", transport });
      await view.waitForSelector('#run[data-status="finished"]');
      expect(await view.locator("#calls li").allInnerTexts()).to.deep.equal(["careful done"]);
    });
  }

  it("the page in docs/clients.md answers", async () => {
    const block = blocksOf("docs/clients.md").find(({ tag }) => tag === "as chat.tsx");
    const text = (block?.text ?? "").replaceAll("http://127.0.0.1:7070", service.url);
    const shown = `${text}
import { createRoot } from "react-dom/client";
createRoot(document.getElementById("root")).render(<App />);`;
    script = await bundled({ contents: shown, loader: "tsx", resolveDir: root });
    const page = await open({});
    await page.fill("input", "What is 17 * 23?");
    await page.press("input", "Enter");
    await page.waitForFunction('/391/.test(document.querySelector("p:not([aria-busy])")?.innerText ?? "")');
    expect(complaints.filter((line) => !line.includes("404"))).to.deep.equal([]);
  });

  it("of two tabs that answer at once, one sees that the other was first", async () => {
    const session = newSession();
    const [first, second] = [await open({ session, agent: "asks" }), await open({ session })];
    await first.click("#send");
    for (const page of [first, second]) await page.waitForSelector("#approvals li");
    // Both buttons stand; the feed has not yet taken either away.
    await Promise.all([first.click(".approve"), second.click(".deny", { timeout: 2000 }).catch(() => {})]);
    await turns(first, 1);
    const told = [await textOf(first, "#failure"), await textOf(second, "#failure")].filter((code) => code !== "");
    expect(
      told.every((code) => code === "conflict"),
      told.join(),
    ).to.equal(true);
    const { runs } = await direct.runs({ session });
    const answers: string[] = [];
    for await (const event of direct.run(runs[0]?.run ?? "").events()) {
      if (event.type === "approval.resolved") answers.push(String(event.approved));
    }
    expect(answers.length).to.equal(1);
  });

  it("a page outlives a service that is killed and started again", async () => {
    const session = newSession();
    const page = await open({ session });
    await page.click("#send");
    await words(page, 8);
    await service.kill();
    await service.begin();
    await words(page, 40);
    await turns(page, 1);
    expect(await turnsOf(page)).to.deep.equal((await outputs(session)).map((text) => text?.trim()));
  });
});
