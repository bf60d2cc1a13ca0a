// Takes every page of the console in four sizes and both themes: `npm run screenshots`, `-- --only runs,wire --size 390 --theme dark`.
// For looking at; the pictures of the docs are made by `npm run pictures`.
import { mkdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { findBrowser } from "./test-console.mjs";

const { values } = parseArgs({
  options: {
    out: { type: "string", default: "node_modules/.cache/screenshots" },
    only: { type: "string" },
    size: { type: "string" },
    theme: { type: "string" },
  },
});
const browserPath = findBrowser();
if (browserPath === undefined) {
  process.stdout.write("left out: screenshots (no browser: apt-get install chromium-headless-shell fonts-inter)\n");
  process.exit(0);
}
process.env.VENTURI_BROWSER = browserPath;
const { consoleService } = await import("../dist/test/console/service.js");
const { openBrowser, openTab } = await import("../dist/test/console/browser.js");
const { makeRuns, pagesOf } = await import("../dist/test/console/states.js");

const sizes = [
  [390, 844],
  [1280, 800],
  [1920, 1080],
  [3840, 2160],
].filter(([width]) => values.size === undefined || values.size.split(",").includes(String(width)));
const themes = ["light", "dark"].filter((theme) => values.theme === undefined || values.theme === theme);
const only = values.only?.split(",");
mkdirSync(values.out, { recursive: true });
const service = await consoleService();
const browser = await openBrowser();
let taken = 0;
try {
  const pages = pagesOf(await makeRuns(service)).filter(({ name }) => only === undefined || only.includes(name));
  for (const [width, height] of sizes) {
    for (const colorScheme of themes) {
      const { page, close } = await openTab(browser, `${service.url}/console/`, {
        colorScheme,
        viewport: { width, height },
        hasTouch: width < 720,
      });
      for (const { name, path, ready, act } of pages) {
        await page.goto(service.url + path);
        await page.waitForSelector(ready);
        await act?.(page);
        await page.waitForTimeout(250);
        await page.screenshot({ path: `${values.out}/${name}-${width}-${colorScheme}.png` });
        taken += 1;
      }
      await close();
    }
  }
} finally {
  await browser.close();
  await service.close();
}
process.stdout.write(`${taken} pictures in ${values.out}\n`);
