import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { agent, memory, openVenturi, type Run, sqlite, VenturiError } from "venturi";

const assistant = agent({ name: "assistant", model: "simulator/small" });

type Reading = (run: Run) => Promise<unknown>;
const all = async (stream: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of stream);
};
const readings: readonly Reading[] = [
  (run) => all(run),
  (run) => all(run.events({ after: 1 })),
  (run) => all(run.text()),
  (run) => all(run.objects()),
  (run) => run.response({ as: "text" }).text(),
];

describe("a handle of a run whose venturi was closed", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "venturi-closed-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  for (const kind of ["memory", "sqlite"] as const) {
    it(`fails its readers at once, on ${kind}`, async () => {
      const journal = kind === "memory" ? memory() : sqlite({ path: join(folder, "journal.db") });
      const settings = { telemetry: { logs: { level: "error" } } } as const;
      const venturi = await openVenturi({ agents: [assistant], journal, settings });
      const run = await venturi.start(assistant, "Hello");
      await run.outcome();
      await venturi.close();
      for (const read of readings) {
        const thrown = await read(run).then(
          () => undefined,
          (error: unknown) => error,
        );
        expect(VenturiError.is(thrown, "shutting_down"), `${read}`).to.equal(true);
      }
    });
  }
});
