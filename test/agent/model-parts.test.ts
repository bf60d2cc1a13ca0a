import { expect } from "chai";
import { compact as compactTo } from "../../src/agent/model/compact.ts";
import { countInput } from "../../src/agent/model/count.ts";
import { completeUsage, estimateMessage, estimateTokens } from "../../src/agent/model/estimate.ts";
import { checkFields, fitFor, fitTo } from "../../src/agent/model/fit.ts";
import { repairRequest, structured, unfit } from "../../src/agent/model/structured.ts";
import { takeableBy } from "../../src/agent/model/takeable.ts";
import { lackOf, streamOf, takesFile } from "../../src/agent/run/capabilities.ts";
import { OutputCap, producedIn } from "../../src/agent/run/output-cap.ts";
import type { Delta } from "../../src/core/model/deltas.ts";
import { type Message, type Part, textOf } from "../../src/core/model/messages.ts";
import type { Capabilities, GenerationRequest, Provider } from "../../src/core/model/provider.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import { ScriptedModel } from "../../src/testing/model.ts";
import { agentOf, tool } from "./harness.ts";

const compact = (messages: readonly Message[], contextTokens: number | undefined, reserved = 0) =>
  compactTo(messages, contextTokens === undefined ? undefined : { contextTokens, share: 0.8, reserved });

const says = (role: Message["role"], text: string): Message => ({ role, parts: [{ type: "text", text }] });
const parts = (...all: Part[]): Message => ({ role: "user", parts: all });
const answered = (output: string): Message => ({
  role: "tool",
  parts: [{ type: "tool_result", call: "c", name: "n", ok: true, output }],
});

const outputIn = (message: Message | undefined): string | undefined => {
  const [part] = message?.parts ?? [];
  return part?.type === "tool_result" ? part.output : undefined;
};

describe("an estimate of tokens", () => {
  it("is a quarter of the characters, depending on the part, plus eight per message", () => {
    const sized: readonly (readonly [Part, number])[] = [
      [{ type: "text", text: "x".repeat(40) }, 40],
      [{ type: "reasoning", text: "x".repeat(40) }, 40],
      [{ type: "tool_call", call: "c", name: "look", arguments: { a: 1 } }, 4 + 7],
      [{ type: "tool_call", call: "c", name: "look", arguments: {}, raw: '{"a":' }, 4 + 5],
      [{ type: "tool_result", call: "c", name: "n", ok: true, output: "x".repeat(40) }, 40],
      [{ type: "image", mediaType: "image/png", data: "x" }, 4_000],
      [{ type: "file", mediaType: "text/plain", data: "x".repeat(40) }, 30],
      [{ type: "file", mediaType: "text/plain", hash: "h", size: 50 }, 50],
      [{ type: "file", mediaType: "text/plain", url: "https://x" }, 0],
      [{ type: "file", mediaType: "application/pdf", data: "x" }, 6_000],
      [{ type: "file", mediaType: "application/pdf", hash: "h", size: 100_000 }, 10_000],
      [{ type: "opaque", wire: "w", data: { a: "bc" } }, 10],
    ];
    for (const [part, characters] of sized) {
      expect(estimateMessage(parts(part)), JSON.stringify(part)).to.equal(Math.ceil((characters + 8) / 4));
    }
    expect([estimateTokens(""), estimateTokens("a"), estimateTokens("abcde")]).to.deep.equal([0, 1, 2]);
  });

  it("fills in what a provider did not report, and says so", () => {
    const input = [says("user", "x".repeat(32))];
    const reported = { inputTokens: 0, outputTokens: 0 };
    expect(completeUsage(reported, input, 40)).to.equal(reported);
    expect(completeUsage(undefined, input, 41)).to.deep.equal({
      inputTokens: 10,
      outputTokens: 11,
      source: "estimated",
    });
    expect(completeUsage({ inputTokens: 0 }, input, 40)).to.deep.equal({
      inputTokens: 0,
      outputTokens: 10,
      source: "partial",
    });
    expect(completeUsage({ outputTokens: 0, cacheReadTokens: 3 }, [...input, ...input], 40)).to.deep.equal({
      inputTokens: 20,
      outputTokens: 0,
      cacheReadTokens: 3,
      source: "partial",
    });
  });
});

describe("a conversation longer than the context", () => {
  const long = (role: Message["role"]) => says(role, "x".repeat(392)); // 100 tokens
  const turns = [long("user"), long("assistant"), long("user"), long("assistant"), long("user")];
  const noticeOf = (message: Message | undefined) => message && textOf(message);

  it("stays as it is within four fifths of the context less what is reserved, or without one", () => {
    for (const [context, reserved] of [
      [undefined, 0],
      [625, 0],
      [750, 100],
    ] as const) {
      expect(compact(turns, context, reserved)).to.deep.equal({ messages: turns, dropped: 0 });
      expect(compact(turns, context, reserved).messages).to.equal(turns);
    }
    expect(compact(turns, 624).dropped).to.equal(2);
    expect(compact(turns, 750, 101).dropped).to.equal(2);
  });

  it("drops whole turns, oldest first, and reports how many messages", () => {
    const { messages, dropped } = compact(turns, 625 - 1);
    expect(dropped).to.equal(2);
    expect(noticeOf(messages[0])).to.equal(
      "[2 earlier messages of this conversation were left out to fit the context]",
    );
    expect(messages[0]?.role).to.equal("user");
    expect(messages.slice(1)).to.deep.equal(turns.slice(2));
    expect(compact(turns, 375 - 1).messages.slice(1)).to.deep.equal(turns.slice(4));
    // Consecutive user messages are one turn.
    const twice = [long("user"), long("user"), long("assistant"), long("user")];
    expect(compact(twice, 499).dropped).to.equal(3);
  });

  it("keeps system messages, and says nothing when only those come before", () => {
    const rules = says("system", "be kind");
    const { messages, dropped } = compact([rules, ...turns], 600);
    expect(dropped).to.equal(2);
    expect(messages[0]).to.equal(rules);
    expect(noticeOf(messages[1])).to.match(/^\[2 earlier/);
    expect(messages.slice(2)).to.deep.equal(turns.slice(2));
  });

  it("of one turn shortens older results first, and the newest only if it would not fit otherwise", () => {
    const output = "y".repeat(4_000);
    const only = [long("user"), answered(output), answered(output), answered("short"), answered(output)];
    const outputs = (context: number) => compact(only, context).messages.slice(1).map(outputIn);
    const cut = `${"y".repeat(400)}\n[the rest was left out to fit the context]`;
    // 100 + 3 * 1002 + 4 tokens
    expect(outputs(3_110 / 0.8)).to.deep.equal([output, output, "short", output]);
    expect(outputs(3_000 / 0.8)).to.deep.equal([cut, output, "short", output]);
    expect(outputs(2_300 / 0.8)).to.deep.equal([cut, output, "short", output]);
    expect(outputs(2_000 / 0.8)).to.deep.equal([cut, cut, "short", output]);
    const [, , , newest] = outputs(1_000);
    expect(newest)
      .to.have.length.within(1_000, 2_700)
      .and.match(/y\n\[the rest was left out to fit the context\]$/);
    expect(outputs(1)).to.deep.equal([cut, cut, "short", cut]);
    expect(compact(only, 1).dropped).to.equal(0);
    const kept = [long("user"), answered("y".repeat(400)), answered("y".repeat(400))];
    expect(compact(kept, 1).messages).to.deep.equal(kept);
  });

  it("of one turn shortens the newest result as little as it has to, though something was said after it", () => {
    const output = "r".repeat(12_000);
    const result: Message = {
      role: "tool",
      parts: [{ type: "tool_result", call: "a", name: "t", ok: true, output }],
    };
    for (const more of [[], [says("assistant", "x")]]) {
      const { messages } = compact([says("user", "x"), result, ...more], 3_000);
      const [part] = messages[1]?.parts ?? [];
      expect(part?.type === "tool_result" && part.output.length).to.be.within(6_000, 11_999);
    }
  });

  it("drops turns first and then shortens the rest", () => {
    const output = "y".repeat(4_000);
    const both = [long("user"), long("assistant"), long("user"), answered(output), answered(output)];
    const { messages, dropped } = compact(both, 1_500 / 0.8);
    expect(dropped).to.equal(2);
    expect(outputIn(messages[2])).to.have.length.below(500);
    expect(outputIn(messages[3])).to.equal(output);
  });
});

describe("an answer with a schema", () => {
  const schema = { type: "object", required: ["a"], properties: { a: { type: "integer" } } };

  it("is read with or without a code fence, and not otherwise repaired", () => {
    const good = ['{"a":1}', ' {"a":1}\n', '```json\n{"a":1}\n```', '```\n{"a":1}```', '```json  \n{"a":1}\n```\n'];
    for (const text of good) expect(structured(text, schema), text).to.deep.equal({ ok: true, object: { a: 1 } });
    const bad = [
      '```{"a":1}```',
      '```json {"a":1}\n```',
      '{"a":1',
      '```ts\n{"a":1}\n```',
      '```json\n{"a":1}',
      'see: {"a":1}',
      "``````",
      "",
    ];
    for (const text of bad)
      expect(structured(text, schema), text).to.deep.equal({ ok: false, problem: "the answer is not JSON" });
  });

  it("names what does not fit, at most five things", () => {
    expect(structured("{}", schema)).to.deep.equal({
      ok: false,
      problem: "the answer must have required property 'a'",
    });
    expect(structured('{"a":"x"}', schema)).to.deep.equal({ ok: false, problem: "/a must be integer" });
    const list = { items: { type: "null" } };
    expect(structured("[1,2,3,4,5,6]", list)).to.deep.equal({
      ok: false,
      problem: "/0 must be null; /1 must be null; /2 must be null; /3 must be null; /4 must be null",
    });
    expect(structured("[".repeat(100) + "]".repeat(100), {})).to.deep.equal({
      ok: false,
      problem: "the answer is nested deeper than 64 levels",
    });
  });

  it("fits the program's schema too, whose problems are reported the same way", () => {
    const program = (issues?: { message: string; path?: PropertyKey[] }[]) =>
      ({
        "~standard": {
          version: 1,
          vendor: "x",
          validate: (value: unknown) => (issues ? { issues } : { value: [value] }),
        },
      }) as never;
    expect(structured('{"a":1}', schema, program())).to.deep.equal({ ok: true, object: { a: 1 } });
    const six = Array.from({ length: 6 }, (_, at) => ({ message: `m${at}`, path: ["a", at] }));
    expect(structured('{"a":1}', schema, program([{ message: "no" }, ...six]))).to.deep.equal({
      ok: false,
      problem: "the answer: no; a.0: m0; a.1: m1; a.2: m2; a.3: m3",
    });
  });

  it("that does not fit is asked for again in words, and then fails the run", () => {
    expect(repairRequest("P")).to.contain("P. Answer again");
    expect(unfit("P")).to.include({ op: "agent.output", code: "llm_error" });
    expect(unfit("P").message).to.match(/: P$/);
  });
});

describe("a provider's capabilities", () => {
  const generate = async () => ({ parts: [], finish: "stop" as const, usage: {} });
  const stream = async function* () {} as () => AsyncIterable<readonly Delta[]>;
  const port = (more: object, capabilities: Partial<Capabilities> = {}): Provider =>
    ({ ...more, capabilities: { streaming: true, tools: true, vision: true, ...capabilities } }) as never;
  const none = { tools: false, vision: false, files: [] };

  it("that are lacking are named before the run starts", () => {
    const message = (provider: Provider, needs: object) => lackOf(provider, "m", { ...none, ...needs })?.message;
    expect(message(port({}), {})).to.equal("m can neither stream nor generate; choose another model for this agent");
    expect(message(port({ stream }), {})).to.equal(undefined);
    expect(message(port({ generate }), {})).to.equal(undefined);
    const plain = port({ stream }, { tools: false, vision: false });
    expect(message(plain, {})).to.equal(undefined);
    expect(message(plain, { tools: true })).to.match(/^m cannot call tools;/);
    expect(message(plain, { vision: true })).to.match(/^m cannot see images;/);
    expect(message(port({ stream }), { tools: true, vision: true })).to.equal(undefined);
    expect(message(plain, { files: ["text/csv", "audio/wav"] })).to.match(/^m takes no audio\/wav files;/);
    const pdf = port({ stream }, { files: ["application/pdf", "image/*"] });
    expect(message(pdf, { files: ["application/pdf", "image/gif", "text/plain"] })).to.equal(undefined);
    expect(message(pdf, { files: ["audio/wav"] })).to.match(/\(only application\/pdf, image\/\* and text\);/);
    expect(lackOf(plain, "m", { ...none, tools: true })).to.include({
      op: "provider.check",
      code: "streaming_not_supported",
    });
  });

  it("for files hold for a type, a family and text", () => {
    const { capabilities } = port({}, { files: ["application/pdf", "audio/*"] });
    for (const type of ["application/pdf", "audio/wav", "text/x-anything", "application/json"])
      expect(takesFile(capabilities, type), type).to.equal(true);
    for (const type of ["application/pdfx", "video/mp4", "audio", "x-audio/wav"])
      expect(takesFile(capabilities, type), type).to.equal(false);
    expect(takesFile(port({}, { files: ["audio/"] }).capabilities, "audio/wav")).to.equal(false);
  });

  it("decide how it is asked: streamed if it streams, else as a whole in one batch", async () => {
    const asked: string[] = [];
    const both = {
      stream: () => {
        asked.push("stream");
        return stream();
      },
      generate: () => {
        asked.push("generate");
        return generate();
      },
    };
    const read = async (provider: Provider) => {
      const batches = [];
      for await (const batch of streamOf(provider, {} as never, {} as never)) batches.push(batch);
      return batches;
    };
    await read(port(both));
    expect(await read(port(both, { streaming: false }))).to.have.length(1);
    await read(port({ stream: both.stream }, { streaming: false }));
    await read(port({ generate: both.generate }));
    expect(asked).to.deep.equal(["stream", "generate", "stream", "generate"]);
    expect(() => streamOf(port({}), {} as never, {} as never)).to.throw(/neither stream nor generate/);
  });

  it("replace content that a model does not take by a note", () => {
    const png: Part = { type: "image", mediaType: "image/png", data: "" };
    const pdf: Part = { type: "file", mediaType: "application/pdf", data: "", name: "a.pdf" };
    const wav: Part = { type: "file", mediaType: "audio/wav", data: "" };
    const blind = port({}, { vision: false, files: ["audio/*"] }).capabilities;
    const seeing = port({}, { files: ["application/pdf", "audio/*"] }).capabilities;
    const messages = [parts({ type: "text", text: "a" }, png, pdf, wav)];
    expect(takeableBy(messages, seeing)).to.equal(messages);
    expect(takeableBy(messages, blind)[0]?.parts).to.deep.equal([
      { type: "text", text: "a" },
      { type: "text", text: "[left out: image of type image/png, which this model does not take]" },
      { type: "text", text: "[left out: file of type application/pdf, a.pdf, which this model does not take]" },
      wav,
    ]);
    const result = (more: object): Part =>
      ({ type: "tool_result", call: "c", name: "n", ok: true, output: "o", ...more }) as Part;
    const note = "[left out: image of type image/png, which this model does not take]";
    const seen = (part: Part) => takeableBy([parts(part)], blind)[0]?.parts[0];
    expect(seen(result({ images: [png], files: [wav], native: { wire: "w", fields: {} } }))).to.deep.equal(
      result({ output: `o\n${note}`, files: [wav] }),
    );
    expect(seen(result({ output: "", images: [png, png] }))).to.deep.equal(result({ output: `${note}\n${note}` }));
    const half = port({}, { files: [] }).capabilities;
    expect(takeableBy([parts(result({ images: [png], files: [wav] }))], half)[0]?.parts[0]).to.deep.equal(
      result({ output: "o\n[left out: file of type audio/wav, which this model does not take]", images: [png] }),
    );
  });
});

describe("the cap on a generation's output", () => {
  function capped(generationBytes: number, outputBytes: number, produced = 0) {
    const aborted: { limit: string; message: string }[] = [];
    const run = {
      agent: { limits: { generationBytes, outputBytes } },
      produced,
      abort: (reason: { limit: string; message: string }) => void aborted.push(reason),
      throwIfAborted: () => {
        throw new Error("aborted");
      },
    };
    return { cap: new OutputCap(run as never), run, aborted };
  }

  it("is the smaller of what a generation and the rest of the run may produce, and says which", () => {
    for (const [generation, output, produced, most, words] of [
      [100, 500, 0, 100, "one generation may produce 100 characters"],
      [100, 500, 450, 50, "the run may produce 500 characters"],
      [100, 100, 0, 100, "the run may produce 100 characters"],
    ] as const) {
      const { cap, aborted } = capped(generation, output, produced);
      expect(cap.most).to.equal(most);
      expect(() => cap.exceeded()).to.throw("aborted");
      expect(aborted[0]).to.include({ limit: "max_output", message: words, code: "budget_exceeded" });
    }
  });

  it("adds what a generation produced to the run once", () => {
    const { cap, run } = capped(100, 500, 7);
    cap.size = 30;
    cap.close();
    cap.close();
    expect([run.produced, cap.size]).to.deep.equal([37, 0]);
  });

  it("counts earlier generations by their events", () => {
    const events = [
      { type: "text.delta", text: "abc" },
      { type: "reasoning.delta", text: "" },
      { type: "refusal.delta", text: "no" },
      { type: "tool_call.delta", arguments: "{}" },
      { type: "tool.output", text: "not the model's" },
      { type: "run.started" },
    ] as unknown as RunEvent[];
    expect(producedIn(events)).to.equal(3 + 2 + 2 + 4 * 64);
    expect(producedIn([])).to.equal(0);
  });
});

describe("a request with fields of a vendor's wire", () => {
  const native = (wire: string, fields: Record<string, unknown>, more: object = {}) => ({
    native: { wire, fields, ...more },
  });
  const request = (more: object): GenerationRequest =>
    ({ model: "m", messages: [], tools: [], options: {}, ...more }) as GenerationRequest;
  const [ours, theirs] = [{ wire: "a" }, { wire: "b" }];
  const open = { native: "all", vendorTools: "all" } as const;
  const bothWays = (more: object) => [fitTo(ours, request(more), open), fitTo(theirs, request(more), open)] as const;

  it("is the same for its own wire and stripped for another, with a list of what is lost", () => {
    const text = (extra: object): Part => ({ type: "text", text: "t", ...extra }) as Part;
    const image = (extra: object): Part => ({ type: "image", mediaType: "i", data: "", ...extra }) as Part;
    const result = (extra: object): Part =>
      ({ type: "tool_result", call: "c", name: "n", ok: true, output: "", ...extra }) as Part;
    const spec = (extra: object) => ({ name: "n", description: "d", parameters: {}, ...extra });
    const cases: readonly (readonly [object, object, readonly string[]])[] = [
      [native("a", { seed: 1, user: 2 }, { translated: ["user"] }), {}, ["seed"]],
      [{ nativeChoice: { wire: "a", fields: { tool_choice: 1 } } }, {}, ["tool_choice"]],
      [
        { messages: [parts(text(native("a", { cite: 1 })))] },
        { messages: [parts(text({}))] },
        ["messages.content.cite"],
      ],
      [
        { messages: [{ ...parts(text({})), ...native("a", { name: 1 }) }] },
        { messages: [parts(text({}))] },
        ["messages.name"],
      ],
      [
        { messages: [parts({ type: "opaque", wire: "a", data: { type: "search" } })] },
        { messages: [parts()] },
        ["messages.content.search"],
      ],
      [
        { messages: [parts({ type: "opaque", wire: "a", data: { type: 1 } })] },
        { messages: [parts()] },
        ["messages.content.part"],
      ],
      [
        { messages: [parts({ type: "opaque", wire: "a", data: null })] },
        { messages: [parts()] },
        ["messages.content.part"],
      ],
      [
        { messages: [parts({ type: "opaque", wire: "a", data: "x" })] },
        { messages: [parts()] },
        ["messages.content.part"],
      ],
      [
        { messages: [parts(result({ images: [image(native("a", { detail: 1 }))] }))] },
        { messages: [parts(result({ images: [image({})] }))] },
        ["messages.content.detail"],
      ],
      [
        {
          messages: [
            parts(
              result({
                files: [{ type: "file", mediaType: "f", data: "", ...native("a", { x: 1 }) }],
                images: [image({})],
              }),
            ),
          ],
        },
        { messages: [parts(result({ files: [{ type: "file", mediaType: "f", data: "" }], images: [image({})] }))] },
        ["messages.content.x"],
      ],
      [{ tools: [spec(native("a", { strict: true }))] }, { tools: [spec({})] }, ["tools.strict"]],
      [{ tools: [spec(native("a", { type: "web_search" })), spec({})] }, { tools: [spec({})] }, ["tools.web_search"]],
      [{ tools: [spec(native("a", { type: "function" }, { translated: ["type"] }))] }, { tools: [spec({})] }, []],
      [
        { output: { type: "json_schema", schema: {}, ...native("a", { strict: 1 }) } },
        { output: { type: "json_schema", schema: {} } },
        ["response_format.strict"],
      ],
    ];
    for (const [asked, stripped, unsent] of cases) {
      const [same, other] = bothWays(asked);
      const name = JSON.stringify(asked);
      expect(same.request, name).to.deep.equal(request(asked));
      expect(same.unsent, name).to.deep.equal([]);
      expect(other.request, name).to.deep.equal(request(stripped));
      expect(other.unsent, name).to.deep.equal(unsent);
    }
  });

  it("is not copied when nothing has to go, and keeps each part that need not", () => {
    const plain = request({ messages: [parts({ type: "reasoning", text: "r" })], output: { type: "json" } });
    expect(fitTo(theirs, plain, open).request).to.equal(plain);
    const mixed = request({
      messages: [says("user", "a"), parts({ type: "opaque", wire: "a", data: {} })],
      native: { wire: "b", fields: { seed: 1 } },
      nativeChoice: { wire: "b", fields: { tool_choice: 1 } },
      output: { type: "json" },
    });
    const { request: fitted } = fitTo(theirs, mixed, open);
    expect(fitted.messages[0]).to.equal(mixed.messages[0]);
    expect(fitted).to.deep.include({ native: mixed.native, nativeChoice: mixed.nativeChoice, output: mixed.output });
  });

  it("sends a provider's own parts back to it whatever its wire is called", () => {
    const message: Message = { role: "assistant", provider: "p", parts: [{ type: "opaque", wire: "x", data: {} }] };
    const own = request({ messages: [message] });
    expect(fitTo(theirs, own, open).request).to.equal(own);
  });

  it("reports every field that does not arrive (channel, wire, provider), each once", () => {
    const agent = agentOf({ model: new ScriptedModel([]) });
    const asked = (more = {}) => ({ agent, request: { agent: "a", input: {}, ...more } });
    const foreign = request(native("a", { seed: 1 }));
    expect(fitFor(theirs, foreign, asked()).unsent).to.deep.equal(["seed"]);
    const seen: unknown[] = [];
    const ignores = (one: GenerationRequest) => {
      seen.push(one.options);
      return ["top_k", "seed"];
    };
    expect(
      fitFor({ ...theirs, ignores }, { ...foreign, options: { own: 1 } as never }, asked({ unsent: ["logprobs"] }))
        .unsent,
    ).to.deep.equal(["logprobs", "seed", "top_k"]);
    fitFor({ ...theirs, ignores }, foreign, asked({ options: { temperature: 1 } }));
    expect(seen).to.deep.equal([{}, { temperature: 1 }]);
  });

  it("is refused before the start where every model has to support every field", () => {
    const model = Object.assign(new ScriptedModel([]), { wire: "b" });
    const agent = agentOf({ model });
    checkFields(agent, { agent: "a", input: { text: "hi" } });
    const asked = { agent: "a", input: { text: "hi" }, ...native("a", { seed: 1, user: 1 }) };
    expect(() => checkFields(agent, asked as never))
      .to.throw(/^p0\/m does not support seed, user;/)
      .that.deep.includes({
        op: "run.start",
        code: "invalid_input",
        details: { fields: ["seed", "user"], param: "seed" },
      });
  });
});

describe("counting a request's tokens", () => {
  const around = { signal: new AbortController().signal, session: [says("user", "x".repeat(32))] };
  const asked = { agent: "a", input: { text: "x".repeat(32) } };
  const agentWith = (countTokens?: unknown, tools = [] as ReturnType<typeof tool>[]) =>
    agentOf({
      model: Object.assign(new ScriptedModel([]), {
        wire: "b",
        ...(countTokens === undefined ? {} : { countTokens }),
      }) as never,
      tools,
      agent: { instructions: "" },
    });

  it("uses the vendor's count if it has one, with the whole request and a short timeout", async () => {
    const seen: unknown[] = [];
    const count = async (request: GenerationRequest, context: object) => {
      seen.push(request.messages, context);
      return 17;
    };
    expect(await countInput(agentWith(count), asked, around)).to.deep.equal({ tokens: 17, source: "reported" });
    expect(seen[0]).to.deep.equal([...around.session, says("user", "x".repeat(32))]);
    expect(seen[1]).to.deep.include({ run: "", round: 0, attempt: 1, agent: "tester" });
    expect((seen[1] as { timeouts: { total: number; firstChunk: number } }).timeouts.total).to.be.at.most(120_000);
  });

  it("is otherwise an estimate that includes the tools", async () => {
    expect(await countInput(agentWith(), asked, around)).to.deep.equal({ tokens: 20, source: "estimated" });
    const failing = () => Promise.reject(new Error("404"));
    expect(await countInput(agentWith(failing), asked, around)).to.deep.equal({ tokens: 20, source: "estimated" });
    const look = tool("look", () => "");
    const spec = JSON.stringify([{ name: "look", description: "look", parameters: { type: "object" } }]);
    expect(await countInput(agentWith(undefined, [look]), asked, around)).to.deep.equal({
      tokens: 20 + Math.ceil(spec.length / 4),
      source: "estimated",
    });
  });

  it("ends with the caller's signal", async () => {
    const controller = new AbortController();
    const count = () => {
      controller.abort(new Error("gone"));
      return Promise.reject(new Error("aborted"));
    };
    const counting = countInput(agentWith(count), asked, { ...around, signal: controller.signal });
    expect(await counting.catch((thrown) => thrown.message)).to.equal("gone");
  });
});
