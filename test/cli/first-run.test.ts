import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { expect } from "chai";
import { tooOld } from "../../src/host/system/node-version.ts";
import { testFolder } from "../host/folder.ts";
import { venturi } from "./venturi.ts";

describe("the first run", () => {
  const folder = testFolder();

  it("in an empty folder `venturi run` answers from the box and keeps its data there, where other commands find it", async () => {
    const { exit, out, err } = await venturi(["run", "assistant", "What is 17 * 23?"], noKeys, folder.path("."));
    expect([exit, out.includes("391")], err).to.deep.equal([0, true]);
    expect(err.split("\n")[0]).to.equal(
      "there is no config/venturi.yaml here: using the built-in one (venturi init copies it)",
    );
    expect(existsSync(folder.path("data/venturi.db"))).to.equal(true);
    const [run = ""] = /run_[0-9a-z]+/.exec(err) ?? [];
    writeFileSync(folder.path("set.yaml"), `items: [{ run: ${run} }]\n`);
    for (const words of [["runs"], ["why", run], ["trace", run], ["export", run], ["eval", "set.yaml"]]) {
      const found = await venturi(words, noKeys, folder.path("."));
      expect(found.exit, `${words[0]}: ${found.err}`).to.equal(0);
    }
  });

  it("a service does not start on a configuration that nobody chose, and says what to do", async () => {
    const { exit, err } = await venturi(["start"], noKeys, folder.path("."));
    expect(exit).to.equal(78);
    expect(err).to.equal(
      "config/venturi.yaml: does not exist; `venturi init` writes one to begin with, --config FILE names another\n",
    );
  });

  it("`venturi init` writes a configuration that is valid, once", async () => {
    const first = await venturi(["init"], {}, folder.path("."));
    expect(first.exit, first.err).to.equal(0);
    const valid = await venturi(["validate"], noKeys, folder.path("."));
    expect(valid.exit, valid.err).to.equal(0);
    const written = readFileSync(folder.path("config/venturi.yaml"), "utf8");
    const again = await venturi(["init"], {}, folder.path("."));
    expect(again.exit).to.equal(1);
    expect(again.err).to.match(/config\/venturi\.yaml already exists; choose another folder/);
    expect(readFileSync(folder.path("config/venturi.yaml"), "utf8")).to.equal(written);
  });

  it("`venturi init` names the next command as it was called itself", async () => {
    const npx = await venturi(["init", "one"], { npm_command: "exec" }, folder.path("."));
    expect(npx.err).to.equal("now: npx venturi start --config one/venturi.yaml\n");
    const installed = await venturi(["init", "two"], { npm_command: "" }, folder.path("."));
    expect(installed.err).to.equal("now: venturi start --config two/venturi.yaml\n");
  });

  it("a run without a question says how to ask one", async () => {
    const { exit, err } = await venturi(["run", "assistant"], noKeys, folder.path("."));
    expect(exit).to.equal(2);
    expect(err).to.equal('cli.run: invalid_input: the input is empty: venturi run assistant "your question"\n');
  });

  it("a port that is taken is an error that says how to choose another", async () => {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    await venturi(["init"], {}, folder.path("."));
    const { exit, err } = await venturi(
      ["start", "--set", `server.listen=127.0.0.1:${port}`],
      noKeys,
      folder.path("."),
    );
    server.close();
    expect(exit).to.equal(1);
    expect(err).to.include(
      `another program already listens on 127.0.0.1:${port}; choose another with --set server.listen=127.0.0.1:PORT`,
    );
  });

  it("the program can be run as it is, which `npx venturi` in a checkout does", () => {
    expect(statSync("dist/src/cli/bin.js").mode & 0o111).to.equal(0o111);
  });

  it("on a Node that is too old the error says which one is needed", () => {
    expect(tooOld("20.20.2")).to.match(/^venturi needs Node \^22\.16 or >=24, and this is 20\.20\.2\./);
    for (const version of ["22.16.0", "22.16.1", "22.100.0", "24.0.0", "100.0.0"])
      expect(tooOld(version), version).to.equal(undefined);
    for (const version of ["22.15.1", "23.11.1", "21.99.0", "9.0.0"])
      expect(tooOld(version), version).to.be.a("string");
  });
});

const noKeys = { ANTHROPIC_API_KEY: "", OPENAI_API_KEY: "" };
