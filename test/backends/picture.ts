import { spawnSync } from "node:child_process";
import { join } from "node:path";

const browser = process.env.CHROMIUM ?? "chromium-headless-shell";

/** Takes a picture of a backend's page into the folder `BACKEND_PICTURES`, where that is set and a headless Chromium is there. */
export function picture(name: string, url: string): void {
  const folder = process.env.BACKEND_PICTURES;
  if (folder === undefined) return;
  const file = join(folder, `${name}.png`);
  const { error, status } = spawnSync(
    browser,
    [
      "--no-sandbox",
      "--hide-scrollbars",
      "--window-size=1400,900",
      "--timeout=40000",
      "--virtual-time-budget=30000",
      `--screenshot=${file}`,
      url,
    ],
    { timeout: 120_000, stdio: "ignore" },
  );
  console.log(
    `      ${error === undefined && status === 0 ? file : `no picture of ${url}: ${error?.message ?? status}`}`,
  );
}
