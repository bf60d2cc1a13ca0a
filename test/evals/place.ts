import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "../../src/core/ports/log.ts";
import { openHost } from "../../src/host/open.ts";
import { venturi } from "../cli/venturi.ts";

/** `good` orders what it is asked for; `bad` orders nothing of one in three; `noisy` errs at random. */
const config = (answers: string) => `
version: 1
dataFolder: ./data
providers:
  demo:
    type: simulator
    pace: 0
    scenarios:
${answers}
tools:
  order: { type: module, path: ./order.mjs }
agents:
  buyer: { model: demo/good, tools: [order] }
prices: { "demo/*": { input: 1000, output: 1000 } }
journal: { type: sqlite, path: ./data/venturi.db }
channels: {}
telemetry: { logs: { level: silent } }
`;

const orderTool = `import { appendFileSync } from "node:fs";
export default {
  description: "Orders something",
  effect: "effectful",
  parameters: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"], additionalProperties: false },
  call({ amount }) {
    appendFileSync(new URL("./orders.log", import.meta.url), amount + "\\n");
    return "order of " + amount;
  },
};
`;

const scenario = (amount: number, model: string, answer: string): string =>
  `      - { name: "${model}-${amount}", match: { text: "^order ${amount}$", model: "${model}" }, turns: [{ calls: [{ name: order, arguments: { amount: ${amount} } }] }, { text: "${answer}" }] }`;

export interface Printed {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A folder with a configuration, and recorded runs whose tool leaves a line for each call that happened. */
export class Place {
  readonly folder = mkdtempSync(join(tmpdir(), "venturi-evals-"));
  readonly runs: string[] = [];

  constructor(
    amounts: number,
    wrong: (model: string, amount: number) => boolean = () => false,
    models: readonly string[] = ["good", "bad", "worse", "a", "b"],
  ) {
    const lines = Array.from({ length: amounts }, (_, amount) =>
      models.map((model) => scenario(amount, model, wrong(model, amount) ? "I cannot" : `done: ${amount}`)),
    ).flat();
    this.write("venturi.yaml", config(lines.join("\n")));
    this.write("order.mjs", orderTool);
    this.write("orders.log", "");
  }

  file(name: string): string {
    return join(this.folder, name);
  }

  write(name: string, text: string): string {
    writeFileSync(this.file(name), text);
    return this.file(name);
  }

  read(name: string): string {
    return readFileSync(this.file(name), "utf8");
  }

  /** Calls of the tool that really happened. */
  get orders(): number {
    return this.read("orders.log").split("\n").length - 1;
  }

  /** Records a run for each amount. */
  async record(amounts: number, set: readonly string[] = []): Promise<void> {
    const host = await openHost({ configFile: this.file("venturi.yaml"), env: {}, log: silentLog, set });
    try {
      for (let amount = 0; amount < amounts; amount++) {
        const { run } = await host.runs.start({ agent: "buyer", input: { text: `order ${amount}` } });
        for await (const _ of host.runs.follow(run));
        this.runs.push(run);
      }
    } finally {
      await host.close();
    }
  }

  async venturi(...words: string[]): Promise<Printed> {
    const { exit, out, err } = await venturi([...words, "--config", this.file("venturi.yaml")], {}, this.folder);
    return { code: exit ?? 1, out, err };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
