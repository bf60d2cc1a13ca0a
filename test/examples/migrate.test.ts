import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { type Simulator, startSimulator } from "../../plugins/simulator/server.ts";
import { hasUsing } from "../has-using.ts";

const folder = fileURLToPath(new URL("../../../examples/migrate/", import.meta.url));
const lines = (file: string): number =>
  readFileSync(`${folder}${file}.ts`, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "").length;

describe("the same program with other libraries", function () {
  this.timeout(180_000);
  let simulator: Simulator;
  before(async () => {
    simulator = await startSimulator({ pace: 0 });
  });
  after(() => simulator.close());

  for (const file of ["venturi", "ai-sdk"]) {
    it(`${file}.ts streams the answer`, async function () {
      if (file === "venturi" && !hasUsing) return this.skip();
      const env = { ...process.env, BASE_URL: `${simulator.url}/v1`, OPENAI_API_KEY: "simulated-0000" };
      const child = spawn(process.execPath, ["--no-warnings", `${folder}${file}.ts`], { env });
      const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
      expect(out, err).to.contain("sunny in Paris, 21 °C");
    });
  }

  for (const file of ["ai-sdk", "openai-agents", "mastra"]) {
    it(`ours is no longer than ${file}.ts`, () => {
      expect(lines("venturi")).to.be.at.most(lines(file));
    });
  }
});
