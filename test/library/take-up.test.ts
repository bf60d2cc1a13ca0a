import { expect } from "chai";
import { agent } from "venturi";
import { say } from "../../src/testing/model.ts";
import { scripted } from "./scripted.ts";

describe("a program that takes up only its own runs", () => {
  it("takes up one that had to wait for another of its session", async () => {
    let release = () => {};
    const held = new Promise<undefined>((resolve) => {
      release = () => resolve(undefined);
    });
    const talker = agent({ name: "talker", model: "scripted/m" });
    const { venturi } = await scripted([["first", say.until(() => held)], ["second"]], {
      agents: [talker],
      takeUp: "none",
    });
    const first = await venturi.start(talker, "one", { session: "s" });
    for await (const _ of first.events({ types: ["text.delta"] })) break;
    const second = await venturi.start(talker, "two", { session: "s" });
    expect((await venturi.runs.get(second.id)).state).to.equal("ready");
    release();
    expect((await second.result()).text).to.equal("second");
    await venturi.close();
  });
});
