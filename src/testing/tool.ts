import { strict as assert } from "node:assert";
import { performance } from "node:perf_hooks";
import type { Instance } from "../core/ports/plugin.ts";
import { isToolSource, type Tool, type ToolSource } from "../core/ports/tool.ts";
import { callTool, jsonSchemaOf, schemaOf, toolNamed } from "./tool-call.ts";

export interface ToolSample {
  /** Name of the tool in the source. */
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface ToolSubject {
  /** A new instance, as returned by `create`. */
  create(): Promise<Instance<Tool | ToolSource>> | Instance<Tool | ToolSource>;
  /** Calls that succeed. */
  readonly samples: readonly ToolSample[];
  /** Arguments that do not match the schema. */
  readonly misfits?: readonly ToolSample[];
  /** Well-formed calls that fail. */
  readonly failures?: readonly ToolSample[];
  /** A call that would outlast the test, to be cancelled. */
  readonly endless?: ToolSample;
}

const modelName = /^[a-zA-Z0-9_-]{1,64}$/;

/** The contract of every tool, as mocha cases. */
export function toolContract(name: string, subject: ToolSubject): void {
  describe(`tool contract: ${name}`, () => {
    let source: Instance<Tool | ToolSource>;
    const list = () => (isToolSource(source) ? source.list() : [source]);

    before(async () => {
      source = await subject.create();
    });
    after(async () => {
      await source.close?.();
    });

    it("has tools, with names that models accept and no name twice", () => {
      const names = list().map((tool) => tool.name);
      assert.ok(names.length > 0);
      for (const one of names) assert.match(one, modelName);
      assert.equal(new Set(names).size, names.length);
    });

    it("says what each tool does and what effect it has", () => {
      for (const tool of list()) {
        assert.ok(tool.description.trim().length > 10, `${tool.name} needs a description`);
        assert.ok(tool.effect !== undefined, `${tool.name} declares no effect`);
      }
    });

    it("describes its arguments as the JSON Schema of an object", () => {
      for (const tool of list()) {
        const schema = jsonSchemaOf(tool);
        assert.equal(schema.type, "object", tool.name);
        assert.deepEqual(JSON.parse(JSON.stringify(schema)), schema, `${tool.name}: the schema is not plain JSON`);
      }
    });

    it("has each of its tools tried here", () => {
      const endless = subject.endless === undefined ? [] : [subject.endless];
      const tried = new Set([...subject.samples, ...(subject.failures ?? []), ...endless].map((sample) => sample.tool));
      for (const tool of list()) assert.ok(tried.has(tool.name), `no call of ${tool.name}`);
    });

    for (const sample of subject.samples) {
      it(`${sample.tool} answers ${brief(sample.input)} with something a model can read`, async () => {
        const { output } = await callTool(toolNamed(source, sample.tool), sample.input);
        assert.ok(output !== undefined);
        assert.equal(typeof JSON.stringify(output), "string");
      });
    }

    it("calls at the same time do not disturb each other", async () => {
      const alone = subject.samples.map(async (sample) => {
        const tool = toolNamed(source, sample.tool);
        if (tool.exclusive) return;
        await Promise.all(Array.from({ length: 8 }, () => callTool(tool, sample.input)));
      });
      await Promise.all(alone);
    });

    for (const sample of subject.misfits ?? []) {
      it(`${sample.tool} has a schema that refuses ${brief(sample.input)}`, async () => {
        const checked = await schemaOf(toolNamed(source, sample.tool))["~standard"].validate(sample.input);
        assert.ok(checked.issues);
      });
    }

    for (const sample of subject.failures ?? []) {
      it(`${sample.tool} fails ${brief(sample.input)} with an error that says why`, async () => {
        const thrown = await failureOf(callTool(toolNamed(source, sample.tool), sample.input));
        assert.ok(thrown instanceof Error, "a tool throws to report a failure");
        assert.ok(thrown.message.length > 0);
        assert.doesNotMatch(thrown.message, /\n\s+at /, "a stack is not for the model");
      });
    }

    if (subject.endless !== undefined) cancels(subject.endless, () => source);

    it("may be closed twice", async () => {
      const other = await subject.create();
      await other.close?.();
      await other.close?.();
    });
  });
}

function cancels(sample: ToolSample, source: () => Tool | ToolSource): void {
  it(`${sample.tool} settles soon after it was cancelled`, async () => {
    const controller = new AbortController();
    const outcome = failureOf(callTool(toolNamed(source(), sample.tool), sample.input, { signal: controller.signal }));
    await new Promise((resolve) => setImmediate(resolve));
    const start = performance.now();
    controller.abort(new Error("cancelled by the contract"));
    assert.ok((await outcome) !== undefined, "a cancelled call rejects");
    // A generous bound: other programs may use the CPU.
    assert.ok(performance.now() - start < 10_000);
  });

  it(`${sample.tool} does not begin when it is already cancelled`, async () => {
    const signal = AbortSignal.abort(new Error("cancelled before it began"));
    assert.ok((await failureOf(callTool(toolNamed(source(), sample.tool), sample.input, { signal }))) !== undefined);
  });
}

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );

const brief = (input: unknown): string => {
  const text = JSON.stringify(input);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
};
