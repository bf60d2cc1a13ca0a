import { expect } from "chai";
import { Journal } from "../../../src/core/journal/journal.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import { overriding } from "../../../src/core/values/overriding.ts";
import { provide } from "../../../src/core/values/token.ts";
import { openHost } from "../../../src/host/open.ts";
import { memory } from "../../journal/setup.ts";
import { testFolder } from "../folder.ts";

const config = `
version: 1
providers: { demo: { type: simulator, pace: 0 } }
agents: { echo: { model: demo/small } }
journal: { type: memory }
channels: {}
`;

describe("a list of runs, in a journal with a read replica that lags", () => {
  const folder = testFolder();

  it("has the run that has just begun, unless its caller only shows it", async () => {
    const inner = memory();
    const journal = overriding<Journal>(inner, {
      list: async (query) => (query.mayLag === true ? { runs: [] } : inner.list(query)),
    });
    const host = await openHost({
      configFile: folder.write({ "venturi.yaml": config }),
      env: {},
      log: silentLog,
      replace: [provide(Journal, journal)],
    });
    const { run } = await host.runs.start({ agent: "echo", input: { text: "hi" }, session: "s" });
    const found = async (query: object) => (await host.runs.list(query)).runs.map((row) => row.run);
    expect(await found({ agent: "echo", limit: 1 })).to.deep.equal([run]);
    expect(await found({ session: "s", mayLag: true })).to.deep.equal([run]);
    expect(await found({ mayLag: true })).to.deep.equal([]);
    await host.close();
  });
});
