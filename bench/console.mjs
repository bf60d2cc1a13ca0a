// What a console that watches costs the service: its CPU time with open pages less its CPU time without, over the same runs, and the bytes
// of the feed. The pages are real ones in a browser (VENTURI_BROWSER or Chromium from the PATH); their own time is not counted.
// node bench/console.mjs [--seconds 20] [--pages 1] [--runs 4]
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { findBrowser } from "../scripts/test-console.mjs";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "20" },
    pages: { type: "string", default: "1" },
    runs: { type: "string", default: "4" },
  },
});
const [seconds, pages, runs] = [values.seconds, values.pages, values.runs].map(Number);
process.env.VENTURI_BROWSER = findBrowser() ?? "";
if (process.env.VENTURI_BROWSER === "") {
  console.log("left out: no browser (apt-get install chromium-headless-shell)");
  process.exit(0);
}
const { consoleService } = await import("../dist/test/console/service.js");
const { openBrowser, openTab } = await import("../dist/test/console/browser.js");

const service = await consoleService();
const browser = await openBrowser();
const pid = service.pid();
await busy(15); // until the code is compiled
const before = await measure("nobody watches");
const tabs = [];
for (let page = 0; page < pages; page += 1) tabs.push(await openTab(browser, `${service.url}/console/runs`));
await Promise.all(tabs.map(({ page }) => page.waitForSelector(".run-row .status")));
const list = await measure(`${pages} list(s) of runs`);
const [{ run }] = (await service.json("/v1/runs?limit=1")).runs;
await Promise.all(tabs.map(({ page }) => page.goto(`${service.url}/console/runs/${run}`)));
const follow = await measure(`${pages} page(s) of a run`);
await Promise.all(tabs.map((tab) => tab.close()));
const alone = (before + (await measure("nobody watches again"))) / 2;
console.log(`a watched list costs ${cost(list)} % of a core a page, a watched run ${cost(follow)} %`);
console.log(`the feed sends ${await feedRate()} bytes a second`);
await browser.close();
await service.close();
process.exit(0);

function cost(watched) {
  return (((watched - alone) / pages) * 100).toFixed(2);
}

/** Share of a core that the service uses under the same load. */
async function measure(name) {
  const before = cpuOf(pid);
  const start = performance.now();
  await busy(seconds);
  const share = (cpuOf(pid) - before) / (performance.now() - start);
  console.log(`${name.padEnd(24)} ${(share * 100).toFixed(2)} % of a core`);
  return share;
}

/** Some runs at fifty tokens a second each, one after the other. */
async function busy(length) {
  const until = performance.now() + length * 1000;
  const one = async () => {
    while (performance.now() < until) {
      const { run: id } = await service.json("/v1/runs", { agent: "counter", input: "count" });
      for (;;) {
        const { status } = await service.json(`/v1/runs/${id}`);
        if (status === "finished" || performance.now() > until) break;
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    }
  };
  await Promise.all(Array.from({ length: runs }, one));
}

async function feedRate() {
  const abort = new AbortController();
  const response = await fetch(`${service.url}/v1/feed`, { signal: abort.signal });
  let bytes = 0;
  const counting = (async () => {
    for await (const piece of response.body) bytes += piece.length;
  })().catch(() => {});
  await busy(5);
  abort.abort();
  await counting;
  return Math.round(bytes / 5);
}

/** User and system time of a process, ms. */
function cpuOf(process) {
  const fields = readFileSync(`/proc/${process}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
