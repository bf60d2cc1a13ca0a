import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { isTerminal, type RunEvent } from "../../src/core/run/events.ts";
import { config, type Life, lives } from "./life/lives.ts";

const main = fileURLToPath(new URL("./life/main.js", import.meta.url));

describe("a process that is killed (SIGKILL) as each event of a life is shown", () => {
  const children = new Set<ChildProcess>();
  const folders: string[] = [];
  after(() => {
    for (const child of children) child.kill("SIGKILL");
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  function newConfig(): string {
    const folder = mkdtempSync(join(tmpdir(), "venturi-lives-"));
    folders.push(folder);
    const configFile = join(folder, "venturi.yaml");
    writeFileSync(configFile, config("{ type: sqlite, path: ./runs.db, lease: 500ms }"));
    return configFile;
  }

  /** Plays the life until it has ended, or is killed after so many events. */
  async function play(configFile: string, life: Life, killAfter = Number.POSITIVE_INFINITY): Promise<Played> {
    const args = ["--no-warnings", main, configFile, life, "key"];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    children.add(child);
    const ended = new Promise((resolve) => child.once("exit", resolve));
    const events: RunEvent[] = [];
    let run = "";
    let notes: unknown;
    let facts: Facts | undefined;
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.startsWith("run ")) run = line.slice(4);
      else if (line === "closed") continue;
      else if (line.startsWith("notes ")) notes = JSON.parse(line.slice(6));
      else if (line.startsWith("facts ")) facts = JSON.parse(line.slice(6)) as Facts;
      else events.push(JSON.parse(line) as RunEvent); // as the child wrote it
      if (events.length >= killAfter) child.kill("SIGKILL");
    }
    await ended;
    children.delete(child);
    return { run, events, notes, facts };
  }

  function check(life: Life, { events, notes, facts }: Played, where: string): void {
    const count = (type: RunEvent["type"]) => events.filter((event) => event.type === type).length;
    expect(
      events.map(({ seq }) => seq),
      where,
    ).to.deep.equal(events.map((_, index) => index + 1));
    expect(events.filter(isTerminal).length, where).to.equal(1);
    expect(events.at(-1)?.type, where).to.equal("run.finished");
    if (life === "talker") {
      expect(
        events.filter((event) => event.type === "context.compacted" && event.summary !== undefined).length,
        where,
      ).to.equal(1);
      expect(events.at(-1), where).to.have.property("output", "The code is 4711.");
    }
    if (life === "asker") {
      expect(count("question.asked"), where).to.equal(1);
      expect(count("question.answered"), where).to.equal(1);
      expect(JSON.stringify(events.filter((event) => event.type === "tool.finished")), where).to.contain("Monday");
    }
    if (life === "recaller") {
      const found = events.filter((event) => event.type === "memory.recalled" && event.call === undefined);
      expect(found.length, where).to.equal(1);
      const text = found[0]?.type === "memory.recalled" ? found[0].notes[0]?.text : undefined;
      expect(text, where).to.contain("tea of process");
      expect(facts?.kept, where).to.deep.equal(["Ana drinks green tea"]);
      // The first is what was recalled; the call may have found another.
      expect(facts?.prompt.match(/tea of process \d+/)?.[0], where).to.equal(text);
    }
    if (life === "sleeper" || life === "closed") {
      expect(count("run.paused"), where)
        .to.equal(count("run.continued"))
        .and.to.be.at.most(life === "sleeper" ? 1 : 3);
      expect(count("tool.finished"), where).to.equal(2);
      expect(events.at(-1), where).to.have.property("output", "Awake.");
    }
    if (life === "keeper") expect(notes, where).to.deep.equal({ likes: ["tea"] });
  }

  for (const life of lives) {
    it(`${life}: goes on, and does nothing twice`, async () => {
      const whole = await play(newConfig(), life);
      check(life, whole, "not killed");
      // Pieces of a stream change nothing that is kept.
      const kills = whole.events
        .flatMap(({ type }, index) => (type.endsWith(".delta") ? [] : [index + 1]))
        .slice(0, -1);
      const killed = kills.length;
      const next = async (): Promise<void> => {
        for (let index = kills.shift(); index !== undefined; index = kills.shift()) {
          const configFile = newConfig();
          const { run, events } = await play(configFile, life, index);
          const resumed = await play(configFile, life);
          expect(resumed.run, `killed after event ${index}`).to.equal(run);
          check(life, resumed, `killed after event ${index}`);
          // What was shown was kept: the resumed run begins with it.
          expect(resumed.events.slice(0, events.length), `killed after event ${index}`).to.deep.equal(events);
        }
      };
      await Promise.all(Array.from({ length: 3 }, next));
      expect(killed).to.be.greaterThan(4);
      process.stdout.write(`      ${life}: killed ${killed} times\n`);
    });
  }
});

interface Played {
  readonly run: string;
  readonly events: readonly RunEvent[];
  readonly notes: unknown;
  readonly facts: Facts | undefined;
}

interface Facts {
  readonly kept: readonly string[];
  /** Of the second round. */
  readonly prompt: string;
}
