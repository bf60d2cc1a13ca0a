import { expect } from "chai";
import { silentLog } from "../../../src/core/ports/log.ts";
import { Supervisor } from "../../../src/host/processes/supervisor.ts";

describe("a supervisor", () => {
  it("that is stopped while it binds its address starts no process", async () => {
    const supervisor = new Supervisor({
      count: 2,
      program: new URL("./nothing.js", import.meta.url),
      configFile: "nothing.yaml",
      set: [],
      listen: { host: "127.0.0.1", port: 0 },
      drain: 0,
      wedged: 0,
      placement: "packed",
      log: silentLog,
    });
    const started = supervisor.start().catch((thrown: unknown) => thrown);
    await supervisor.stop();
    expect(await started).to.include({ op: "service.start", code: "shutting_down" });
  });
});
