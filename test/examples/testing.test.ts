import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { hasUsing } from "../has-using.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const node = (...words: string[]) =>
  spawnSync(process.execPath, ["--no-warnings", ...words], {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, NODE_TEST_CONTEXT: undefined },
  });

describe("tests of one's own agents", function () {
  this.timeout(180_000);

  it("run with node:test", function () {
    if (!hasUsing) return this.skip();
    const { status, stdout, stderr } = node("--test", "--test-reporter=tap", "examples/testing/node-test.test.ts");
    expect(status, stdout + stderr).to.equal(0);
    expect(stdout).to.contain("# pass 3");
  });

  it("run with mocha", () => {
    const { status, stdout, stderr } = node(
      "node_modules/mocha/bin/mocha.js",
      "--no-config",
      "--exit",
      "--timeout=20000",
      "examples/testing/mocha.test.ts",
    );
    expect(status, stdout + stderr).to.equal(0);
    expect(stdout).to.contain("2 passing");
  });
});
