import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { silentLog } from "../../../src/core/ports/log.ts";
import { Supervisor } from "../../../src/host/processes/supervisor.ts";

/** A process that is ready at once and does nothing, and refuses to free the runs of a dead one the first `refusals` times. */
const program = (file: string, refusals: number) => `
import { appendFileSync, readFileSync } from "node:fs";
const file = ${JSON.stringify(file)};
process.on("message", ({ call, id, body }) => {
  if (call === "start") {
    appendFileSync(file, JSON.stringify({ started: body.worker, pid: process.pid }) + "\\n");
    process.send({ call: "ready", id: 0 });
  } else if (call === "takeOver") {
    const asked = readFileSync(file, "utf8").split("\\n").filter((line) => line.includes('"asked"')).length;
    appendFileSync(file, JSON.stringify({ asked: body.worker, pid: process.pid }) + "\\n");
    if (asked < ${refusals}) process.send({ answer: id, failure: "the journal is busy" });
    else process.send({ answer: id, value: { runs: 3 } });
  } else if (call === "drain") process.exit(0);
  else if (id) process.send({ answer: id, value: "" });
});
setInterval(() => {}, 1000);
`;

interface Line {
  readonly started?: string;
  readonly asked?: string;
  readonly pid: number;
}

describe("the runs of a dead process", () => {
  let folder: string;
  let supervisor: Supervisor | undefined;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "venturi-"));
  });
  afterEach(async () => {
    await supervisor?.stop();
    rmSync(folder, { recursive: true });
  });

  for (const refusals of [0, 1, 5]) {
    it(`are freed although it was refused ${refusals} times, by all that were asked`, async () => {
      const file = join(folder, "asked");
      writeFileSync(file, "");
      writeFileSync(join(folder, "program.mjs"), program(file, refusals));
      const lines = () =>
        readFileSync(file, "utf8")
          .split("\n")
          .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Line]));
      const freed = Promise.withResolvers<Record<string, unknown> | undefined>();
      const info = (message: string, facts?: Record<string, unknown>) => {
        if (message.includes("were freed")) freed.resolve(facts);
      };
      supervisor = new Supervisor({
        count: 2,
        program: pathToFileURL(join(folder, "program.mjs")),
        configFile: "",
        set: [],
        listen: { host: "127.0.0.1", port: 0 },
        drain: 1_000,
        log: { ...silentLog, info },
        wedged: 0,
        placement: "packed",
      });
      await supervisor.start();
      const [victim] = lines();
      process.kill(victim?.pid ?? 0, "SIGKILL");
      expect(await freed.promise).to.include({ worker: victim?.started, runs: 3 });
      const asked = lines().filter((line) => line.asked === victim?.started);
      expect(asked).to.have.length(refusals + 1);
    });
  }
});
