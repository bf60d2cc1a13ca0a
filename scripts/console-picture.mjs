// Makes docs/images/console-*.png, and a moving one of a chat, from the real page on the demo of the console's tests: `npm run pictures`. Looks best with the font Inter installed.
import { mkdirSync, writeFileSync } from "node:fs";
import { movingPicture } from "./moving-picture.mjs";
import { findBrowser } from "./test-console.mjs";

const browserPath = findBrowser();
if (browserPath === undefined) {
  process.stdout.write(
    "left out: pictures of the console (no browser: apt-get install chromium-headless-shell fonts-inter)\n",
  );
  process.exit(0);
}
process.env.VENTURI_BROWSER = browserPath;
const { consoleService } = await import("../dist/test/console/service.js");
const { openBrowser, openTab } = await import("../dist/test/console/browser.js");
const { makeRuns } = await import("../dist/test/console/states.js");

mkdirSync("docs/images", { recursive: true });
const service = await consoleService();
const browser = await openBrowser();
let forked = "";
try {
  // Other runs for the list; a service that has just started is slower than one that runs.
  await makeRuns(service);
  // One run is in all of them, so that their numbers agree.
  const run = await move();
  for (const theme of ["light", "dark"]) await draw(theme, run);
} finally {
  await browser.close();
  await service.close();
}

/** A chat from the question to the approved answer, every 300 ms; the run that it was. */
async function move() {
  const options = { colorScheme: "light", viewport: { width: 960, height: 600 } };
  const { page, close } = await openTab(browser, `${service.url}/console/`, options);
  const frames = [];
  const take = async (ms) => frames.push({ png: await page.screenshot(), ms });
  await page.fill("#composer", "I want a refund for order A-17");
  await take(900);
  await page.keyboard.press("Enter");
  const until = async (selector) => {
    for (let turn = 0; turn < 40 && (await page.locator(selector).count()) === 0; turn += 1) {
      await take(220);
      await page.waitForTimeout(220);
    }
  };
  await until("[data-act=approve]:not([disabled])");
  await take(1500);
  await page.click("[data-act=approve]");
  await page.waitForTimeout(300);
  await take(1500);
  await page.waitForSelector("text=/Your refund/");
  await until(".status.finished");
  await page.waitForTimeout(300);
  await take(3000);
  writeFileSync("docs/images/console-moving.png", movingPicture(frames));
  const run = await page.locator("a:has-text('Open run')").getAttribute("href");
  await close();
  return new URL(run, service.url).pathname.split("/").at(-1);
}

async function draw(theme, run) {
  const options = { colorScheme: theme, deviceScaleFactor: 2, viewport: { width: 1280, height: 800 } };
  const { page, close } = await openTab(browser, `${service.url}/console/`, options);
  const save = async (name) => {
    // The README shows the one of the reader's theme, other pages the light ones.
    if (theme === "dark" && name !== "run") return;
    await page.mouse.move(0, 0);
    await page.waitForTimeout(300);
    await page.screenshot({ path: `docs/images/console-${name}-${theme}.png` });
  };
  const show = async (path, ready) => {
    await page.goto(`${service.url}/console/${path}`);
    await page.waitForSelector(ready);
  };
  await page.fill("#composer", "I want a refund for order A-17");
  await page.keyboard.press("Enter");
  await page.waitForSelector("[data-act=approve]:not([disabled])");
  await show("approvals", "[data-act=approve]:not([disabled])");
  await save("approvals");
  await page.click("[data-act=deny]");
  await page.waitForSelector(".receipts");
  await show(`runs/${run}?view=trace`, ".wf-row");
  await page.click(".wf-row:has-text('refund_order')");
  await page.waitForSelector(".inspector");
  await save("run");
  await show(`runs/${run}?view=wire`, ".chunks td");
  await save("wire");
  if (theme === "light") {
    const body = { after: 1, instructions: "Answer in one sentence.", tools: "recorded" };
    forked = (await service.json(`/v1/runs/${run}/fork`, body)).run;
    await page.waitForTimeout(3000);
  }
  await show(`compare?a=${run}&b=${forked}`, ".diffed ins");
  await save("compare");
  await show("runs", ".totals dd");
  await save("runs");
  await close();
}
