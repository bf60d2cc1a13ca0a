// Makes docs/images/console-*.png from the real page on the demo of the console's tests: `npm run pictures`. Looks best with the font Inter installed.
import { mkdirSync } from "node:fs";
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

mkdirSync("docs/images", { recursive: true });
const service = await consoleService();
const browser = await openBrowser();
try {
  for (const theme of ["light", "dark"]) await draw(theme);
} finally {
  await browser.close();
  await service.close();
}

async function draw(theme) {
  const options = { colorScheme: theme, deviceScaleFactor: 2, viewport: { width: 1280, height: 800 } };
  const { page, close } = await openTab(browser, `${service.url}/console/`, options);
  const save = (name) => page.screenshot({ path: `docs/images/console-${name}-${theme}.png` });
  await page.fill("#composer", "I want a refund for order A-17");
  await page.keyboard.press("Enter");
  await page.waitForSelector("[data-act=approve]");
  await page.waitForTimeout(900);
  await save("chat");
  await page.click("[data-act=approve]");
  await page.waitForSelector(".status.finished");
  await page.click("text=Open run");
  await page.waitForSelector(".why");
  await page.click("#tab-trace");
  await page.click(".wf-row:has-text('refund_order')");
  await page.waitForSelector(".inspector");
  await page.mouse.move(0, 0);
  await page.waitForTimeout(300);
  await save("run");
  await close();
}
