import { mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect } from "chai";
import module from "../../../plugins/module/index.ts";
import type { Tool } from "../../../src/core/ports/tool.ts";
import { silentToolContext } from "../../../src/testing/tool-call.ts";
import { callTool, testPluginContext, toolContract } from "../../../src/testing.ts";

const folder = mkdtempSync(join(tmpdir(), "venturi-module-"));
symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
after(() => rmSync(folder, { recursive: true }));

const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
const create = async (options: Record<string, unknown>) =>
  (await module.create(module.options.parse(options), testPluginContext({ name: "mine", folder }))) as Tool;
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail("it was loaded"),
    (thrown) => thrown,
  );

write(
  "good.mjs",
  `import { z } from "zod";
   export default {
     description: "Doubles a number, with words",
     input: z.strictObject({ value: z.number(), times: z.number().default(2) }),
     effect: "pure",
     call: ({ value, times }) => value * times,
   };
   export const slow = {
     description: "Counts, then answers",
     parameters: { type: "object", properties: {}, additionalProperties: false },
     async *call() { yield "one"; yield "two"; return "three"; },
   };
   export const broken = { description: "Always fails for a reason", parameters: z.strictObject({}), call() { throw new Error("no luck"); } };`,
);
write(
  "typed.ts",
  `interface Input { name: string }
   export default {
     description: "Greets somebody by name",
     parameters: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
     effect: "pure" as const,
     call({ name }: Input): string { return "hello " + name; },
   };`,
);

toolContract("module", {
  create: () => create({ path: "good.mjs" }),
  samples: [{ tool: "mine", input: { value: 2 } }],
  misfits: [{ tool: "mine", input: { value: "2" } }],
});
toolContract("module with a generator", {
  create: () => create({ path: "good.mjs", export: "slow" }),
  samples: [{ tool: "mine", input: {} }],
});

describe("module", () => {
  it("gives the function its parsed input, with the schema's defaults", async () => {
    expect((await callTool(await create({ path: "good.mjs" }), { value: 21 })).output).to.equal(42);
  });

  it("takes a named export, a JSON Schema and an async generator", async () => {
    const tool = await create({ path: "./good.mjs", export: "slow" });
    expect(await callTool(tool, {})).to.deep.equal({ output: "three", progress: ["one", "two"] });
    expect(tool.effect, "a tool that does not declare its effect").to.equal("effectful");
  });

  it("takes TypeScript", async () => {
    expect((await callTool(await create({ path: "typed.ts" }), { name: "you" })).output).to.equal("hello you");
  });

  it("options win over what the module says", async () => {
    const tool = await create({
      path: "good.mjs",
      effect: "idempotent",
      description: "Something else",
      timeout: "2s",
      approval: "always",
    });
    expect(tool).to.include({
      name: "mine",
      effect: "idempotent",
      description: "Something else",
      timeout: 2_000,
      approval: "always",
    });
  });

  it("hands on what the function throws", async () => {
    const thrown = await failureOf(callTool(await create({ path: "good.mjs", export: "broken" }), {}));
    expect(thrown.message).to.equal("no luck");
  });

  it("sees a changed file, and the old tool goes on as it was", async () => {
    const source = (answer: number) =>
      `export default { description: "Tells the answer", parameters: { type: "object" }, call: () => ${answer} };`;
    write("changing.mjs", source(1));
    const before = await create({ path: "changing.mjs" });
    write("changing.mjs", source(2));
    utimesSync(join(folder, "changing.mjs"), new Date(), new Date(Date.now() + 5_000));
    const after = await create({ path: "changing.mjs" });
    expect((await callTool(before, {})).output).to.equal(1);
    expect((await callTool(after, {})).output).to.equal(2);
  });

  const mistakes: readonly (readonly [string, string, string, RegExp])[] = [
    ["nothing exported", "", "config_invalid", /no export "default"; it exports nothing/],
    ["a bare function", "export default () => 1", "config_invalid", /is not an object \{ description/],
    ["no call", "export default { description: 'x', parameters: { type: 'object' } }", "config_invalid", /needs call/],
    [
      "no description",
      "export default { parameters: { type: 'object' }, call() {} }",
      "config_invalid",
      /needs a description/,
    ],
    [
      "a blank description",
      "export default { description: ' ', parameters: { type: 'object' }, call() {} }",
      "config_invalid",
      /needs a description/,
    ],
    ["no parameters", "export default { description: 'x', call() {} }", "config_invalid", /needs input/],
    [
      "parameters that are no object",
      "import { z } from 'zod'; export default { description: 'x', parameters: z.string(), call() {} }",
      "config_invalid",
      /needs input/,
    ],
    [
      "an effect that does not exist",
      "export default { description: 'x', parameters: { type: 'object' }, effect: 'safe', call() {} }",
      "config_invalid",
      /effect "safe"/,
    ],
    ["a syntax error", "export default {", "plugin_failed", /cannot be loaded/],
    ["a throw while it is loaded", "throw new Error('at load')", "plugin_failed", /at load/],
  ];
  for (const [index, [what, text, code, message]] of mistakes.entries()) {
    it(`${what} is reported when the config is read`, async () => {
      write(`mistake-${index}.mjs`, text);
      const thrown = await failureOf(create({ path: `mistake-${index}.mjs` }));
      expect(thrown.code).to.equal(code);
      expect(thrown.message).to.match(message).and.to.contain(`mistake-${index}.mjs`);
    });
  }

  describe("in a thread of its own", () => {
    const isolated = async (name: string, body: string, more = "") => {
      write(
        `${name}.mjs`,
        `import { threadId } from "node:worker_threads";
         export default { description: "Runs apart", parameters: { type: "object" }, effect: "pure", ${more} ${body} };`,
      );
      return (await create({ path: `${name}.mjs`, isolate: true })) as Tool & { close(): Promise<void> };
    };

    it("has its own time, and one thread for calls that follow each other", async () => {
      const made = await isolated("apart", "call: () => String(threadId)", "timeout: 1234,");
      expect(made).to.include({ timeout: 1_234, effect: "pure", description: "Runs apart" });
      const first = (await callTool(made, {})).output;
      expect((await callTool(made, {})).output).to.equal(first);
      await made.close();
      const plain = await isolated("plain", "call: () => 1");
      expect(plain).not.to.have.property("timeout");
      await plain.close();
    });

    it("fails the call that ends the thread, and the next one has another thread", async () => {
      const made = await isolated("ends", "call: ({ end }) => end ? process.exit(7) : 'here'");
      expect((await failureOf(callTool(made, { end: true }))).message).to.contain("exit 7");
      expect((await callTool(made, {})).output).to.equal("here");
      await made.close();
    });

    it("is told that its call is cancelled, and why", async () => {
      const waits =
        "new Promise((_, no) => signal.addEventListener('abort', () => no(new Error('told: ' + signal.reason.message))))";
      const made = await isolated("waits", `call: (_, { signal }) => ${waits}`);
      const controller = new AbortController();
      const called = failureOf(callTool(made, {}, { signal: controller.signal }));
      setTimeout(() => controller.abort(new Error("enough")), 20);
      expect((await called).message)
        .to.contain("told: ")
        .and.to.contain("enough");
      await made.close();
    });

    it("is not called when its call was cancelled while the thread loaded, and the thread serves the next one", async () => {
      const waits = "new Promise((_, no) => signal.addEventListener('abort', () => no(new Error('told'))))";
      const made = await isolated("late", `call: ({ wait }, { signal }) => wait ? ${waits} : String(threadId)`);
      const [busy, early] = [new AbortController(), new AbortController()];
      const call = ({ signal }: AbortController) =>
        failureOf(made.call({ wait: true }, { ...silentToolContext(), signal }) as Promise<unknown>);
      const first = call(busy); // has the thread that is loaded
      const second = call(early);
      early.abort(new Error("enough"));
      expect((await second).message)
        .to.contain("enough")
        .and.not.to.contain("told");
      expect((await callTool(made, {})).output).to.match(/^\d+$/);
      busy.abort();
      expect((await first).message).to.contain("told");
      await made.close();
    });

    it("that ended within its grace is not charged for it in the next call", async () => {
      const waits = "new Promise((_, no) => signal.addEventListener('abort', () => no(new Error('told'))))";
      const rests = "new Promise((yes) => setTimeout(() => yes(String(threadId)), 700))";
      const made = await isolated("graced", `call: ({ wait }, { signal }) => wait ? ${waits} : ${rests}`);
      const controller = new AbortController();
      const cancelled = failureOf(callTool(made, { wait: true }, { signal: controller.signal }));
      setImmediate(() => controller.abort());
      expect((await cancelled).message).to.contain("told");
      expect((await callTool(made, {})).output).to.match(/^\d+$/);
      await made.close();
    });

    it("that is closed ends the calls that run", async () => {
      const made = await isolated("closed", "call: () => new Promise(() => setInterval(() => {}, 1_000))");
      const called = failureOf(made.call({}, silentToolContext()) as Promise<unknown>);
      await made.close();
      expect(await called).to.include({ op: "tool.call", code: "tool_failed" });
    });
  });

  it("is checked before it is created: a file or an export that is missing, with the option that names it", async () => {
    const check = async (options: Record<string, unknown>) =>
      (await module.check?.(module.options.parse(options), { folder } as never))?.map(({ path }) => path);
    expect(await check({ path: "good.mjs" })).to.deep.equal([]);
    expect(await check({ path: "good.mjs", isolate: true })).to.deep.equal([]);
    expect(await check({ path: "nowhere.mjs", isolate: true })).to.deep.equal([["path"]]);
    expect(await check({ path: "nowhere.mjs" })).to.deep.equal([["path"]]);
    expect(await check({ path: "good.mjs", export: "none" })).to.deep.equal([["export"]]);
    write("empty.mjs", "");
    expect(await check({ path: "empty.mjs" }), "nobody named an export").to.deep.equal([["path"]]);
    write("hangs.mjs", "while (true) {}");
    expect(await check({ path: "hangs.mjs", isolate: true }), "not loaded").to.deep.equal([]);
  });

  it("a missing file is reported with its path", async () => {
    expect((await failureOf(create({ path: "nowhere.mjs" }))).message).to.contain(join(folder, "nowhere.mjs"));
  });
});
