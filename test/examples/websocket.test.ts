import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { chromium, type Page } from "playwright-core";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const folder = join(root, "examples/websocket");
const { findBrowser } = (await import(new URL("../../../scripts/test-console.mjs", import.meta.url).href)) as {
  findBrowser(): string | undefined;
};

/** A program whose output can be waited for. */
class Program {
  readonly child: ChildProcessWithoutNullStreams;
  said = "";

  constructor(words: readonly string[], env: Record<string, string> = {}) {
    this.child = spawn(process.execPath, ["--no-warnings", ...words], { env: { ...process.env, ...env } });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream.on("data", (data) => {
        this.said += data;
      });
    }
  }

  async until(wanted: RegExp): Promise<void> {
    while (!wanted.test(this.said)) {
      if (this.child.exitCode !== null) throw new Error(`ended with ${this.child.exitCode}: ${this.said}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async end(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, "exit");
    this.child.kill("SIGTERM");
    await ended;
  }
}

describe("the example over a WebSocket", function () {
  this.timeout(180_000);
  let home = "";
  let port = 0;
  let service: Program;
  before(async () => {
    home = mkdtempSync(join(tmpdir(), "venturi-talk-"));
    const words = ["start", "--config", join(folder, "venturi.yaml"), "--set", "providers.demo.pace=2"];
    service = new Program([join(root, "dist/src/cli/bin.js"), ...words], {
      VENTURI_DATA: home,
      VENTURI_LISTEN: "127.0.0.1:0",
      ANTHROPIC_API_KEY: "",
      NO_COLOR: "1",
      WEATHER_STEP_MS: "800", // long enough to be interrupted on a busy machine
    });
    const address = /http:\/\/127\.0\.0\.1:(\d+)/;
    await service.until(address);
    port = Number(address.exec(service.said)?.[1]);
  });
  after(async () => {
    await service.end();
    rmSync(home, { recursive: true });
  });

  describe("in a terminal", () => {
    let talk: Program;
    const say = (line: string) => talk.child.stdin.write(`${line}\n`);
    const heard = () => (existsSync(join(home, "heard")) ? readFileSync(join(home, "heard"), "utf8") : "");
    beforeEach(async () => {
      // A voice that takes a while for each sentence, and writes down what it has said.
      const voice = join(home, "voice");
      const program = `const text = require("fs").readFileSync(0, "utf8"); setTimeout(() => require("fs").appendFileSync(${JSON.stringify(join(home, "heard"))}, text), 150)`;
      writeFileSync(voice, `#!/bin/sh\nexec "${process.execPath}" -e '${program}'\n`);
      chmodSync(voice, 0o755);
      rmSync(join(home, "heard"), { force: true });
      talk = new Program([join(folder, "talk.mjs"), `ws://127.0.0.1:${port}/ws`, "--voice", voice]);
      await talk.until(/talking to host/);
    });
    afterEach(() => talk.end());

    it("says each sentence as it comes and shows tools while they run", async () => {
      say("What is the weather in Oslo and what is 17 * 23?");
      await talk.until(/⋯ weather \{"city":"Oslo"\}\n[\s\S]* {4}asking the station/);
      expect(talk.said)
        .to.match(/weather and calculator/)
        .and.not.to.contain("rain"); // said before the tool has ended
      await talk.until(/✔ weather: 4 degrees and light rain in Oslo \(\d+ ms\)/);
      await talk.until(/17 \* 23 = 391\.\n\n/);
      expect(talk.said).to.match(/✔ calculator: .*391/);
      while (!heard().includes("391")) await new Promise((resolve) => setTimeout(resolve, 20));
      expect(heard()).to.match(/weather and calculator[\s\S]*light rain in Oslo\.\n17 \* 23 = 391\./);
    });

    for (const [how, interrupt] of [
      ["a new line", () => say("What is 6 * 7?")],
      ["Ctrl-C", () => void talk.child.kill("SIGINT")],
    ] as const) {
      it(`is interrupted by ${how}: the tool ends, and nothing more of it is said`, async () => {
        say("the weather in Rome please");
        await talk.until(/⋯ weather .*\n {4}asking the station/);
        interrupt();
        await talk.until(/■ interrupted/);
        await service.until(/"code":"stream_interrupted","reason":"interrupted by the listener"/);
        if (how === "Ctrl-C") say("What is 6 * 7?");
        await talk.until(/6 \* 7 = 42\.\n\n/);
        expect(talk.said).not.to.contain("light rain in Rome");
      });
    }

    it("leaves at the end of its input", async () => {
      const ended = once(talk.child, "exit");
      talk.child.stdin.end();
      expect((await ended)[0]).to.equal(0);
    });

    it("says so when no service answers", async () => {
      const alone = new Program([join(folder, "talk.mjs"), "ws://127.0.0.1:9/ws"]);
      expect((await once(alone.child, "exit"))[0]).to.equal(1);
      expect(alone.said).to.contain("no service answers at ws://127.0.0.1:9/ws");
    });
  });

  it("in a page: sentences are spoken as they come, tools are seen, and the button interrupts", async function () {
    const executablePath = findBrowser();
    if (executablePath === undefined) return this.skip();
    const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
    const browser = await chromium.launch({ executablePath, args });
    try {
      const page = await browser.newPage();
      const wrong: string[] = [];
      page.on("pageerror", (error) => wrong.push(error.message));
      page.on("console", (message) => {
        if (message.type() === "error" && !message.text().includes("favicon")) wrong.push(message.text());
      });
      // A headless browser has no voice: what it is given to say is kept instead.
      await page.addInitScript(`
        globalThis.spoken = [];
        Object.defineProperty(globalThis, "speechSynthesis", { value: {
          speak: ({ text }) => spoken.push(text), cancel: () => spoken.push("(silence)") } });
      `);
      await page.goto(`http://127.0.0.1:${port}/talk`);
      await ask(page, "What is the weather in Oslo and what is 17 * 23?");
      await page.getByText("asking the station").waitFor();
      await page.getByText("17 * 23 = 391.", { exact: true }).waitFor();
      expect(await page.textContent(".tool")).to.match(
        /⋯ weather \{"city":"Oslo"\}[\s\S]*✔ weather: 4 degrees and light rain/,
      );
      const spoken = await page.evaluate<string[]>("spoken");
      expect(spoken[0]).to.equal("(silence)");
      expect(spoken.slice(1).join(" ")).to.match(/weather and calculator.*light rain in Oslo\. 17 \* 23 = 391\./);
      await ask(page, "the weather in Rome please");
      await page.getByText('⋯ weather {"city":"Rome"}').waitFor();
      await page.click("#stop");
      await page.getByText("■ interrupted").waitFor();
      expect((await page.evaluate<string[]>("spoken")).at(-1)).to.equal("(silence)");
      await ask(page, "What is 6 * 7?");
      await page.getByText("6 * 7 = 42.", { exact: true }).waitFor();
      expect(await page.textContent("#said")).not.to.contain("light rain in Rome");
      expect(wrong.filter((text) => !text.startsWith("Failed to load resource"))).to.deep.equal([]);
    } finally {
      await browser.close();
    }
  });
});

async function ask(page: Page, text: string): Promise<void> {
  await page.fill("#text", text);
  await page.press("#text", "Enter");
}
