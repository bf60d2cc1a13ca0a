// Drives the console in a real browser. Left out with one line where there is none.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

const names = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

/** `VENTURI_BROWSER`, else one from the PATH. */
export function findBrowser() {
  if (process.env.VENTURI_BROWSER) return process.env.VENTURI_BROWSER;
  const folders = (process.env.PATH ?? "").split(delimiter);
  for (const name of names) {
    const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
    if (found !== undefined) return found;
  }
  return undefined;
}

if (import.meta.main) {
  const browser = findBrowser();
  if (browser === undefined) {
    process.stdout.write(
      "left out: npm run test:console (no browser: apt-get install chromium-headless-shell, or VENTURI_BROWSER=…)\n",
    );
    process.exit(0);
  }
  const words = [
    "node_modules/mocha/bin/mocha.js",
    "--no-config",
    "--exit",
    "--enable-source-maps",
    "dist/test/console/*.suite.js",
    ...process.argv.slice(2),
  ];
  const env = { ...process.env, VENTURI_BROWSER: browser };
  process.exit(spawnSync(process.execPath, words, { stdio: "inherit", env }).status ?? 1);
}
