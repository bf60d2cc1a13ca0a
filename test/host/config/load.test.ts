import { mkdirSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import type { VenturiError } from "../../../src/core/errors/errors.ts";
import { type Config, loadConfig } from "../../../src/host/config/load.ts";
import { preamble, sample, testFolder } from "../folder.ts";

describe("the configuration", () => {
  const folder = testFolder();
  const load = (files: Record<string, string>, set: string[] = [], env = {}): Promise<Config> =>
    loadConfig({ file: folder.write(files), set, env });
  const lines = async (files: Record<string, string>, set: string[] = [], env = {}): Promise<string[]> => {
    const error = await load(files, set, env).then(
      () => expect.fail("it was accepted"),
      (thrown: VenturiError) => thrown,
    );
    expect(error.code).to.equal("config_invalid");
    expect(error.exit).to.equal(78);
    return error.message.replaceAll(folder.path("/"), "").split("\n");
  };

  it("fills in every default", async () => {
    const config = await load({
      "a.yaml": `${preamble}agents: { one: { model: p/m } }\nproviders: { p: { type: sample-provider } }`,
    });
    expect(config.server.listen).to.deep.equal({ host: "127.0.0.1", port: 7070 });
    expect(config.limits).to.include({ body: 32 * 2 ** 20, drain: 25_000, activeRuns: 2000 });
    expect(config.agents.one?.toolPolicy).to.include({
      dispatch: "eager",
      concurrency: 8,
      approvalTimeout: 86_400_000,
    });
    expect(config.telemetry).to.include({ enabled: true, chunks: "spans", content: "off" });
    expect(config.telemetry).to.not.have.property("maxChunkSpans"); // every chunk has its span
    expect(config.providers.p?.options).to.deep.equal({ attempts: 1, loud: false, patience: 1000 });
    expect(config.journal.keepWire).to.equal(false);
  });

  it("tells all mistakes at once, each with file, line, column, path and a suggestion", async () => {
    const text = `${preamble}providers:
  claude: { type: sample-provder }
  gpt:
    type: sample-provider
    atempts: 3
models:
  main: { chain: [gtp/large], timeout: { idle: 5 minutes } }
`;
    expect(await lines({ "venturi.yaml": text })).to.deep.equal([
      'venturi.yaml:6:19 providers.claude: there is no plugin "sample-provder" (did you mean "sample-provider"?)',
      'venturi.yaml:9:5 providers.gpt.atempts: unknown key (did you mean "attempts"?)',
      'venturi.yaml:11:19 models.main.chain[0]: "gtp" is not among the providers (did you mean "gpt"?)',
      'venturi.yaml:11:48 models.main.timeout.idle: expected a duration such as "250ms", "30s" or "5m"',
    ]);
  });

  it("a condition for an approval is compiled with the config, of tools that read the key themselves, too", async () => {
    const text = `${preamble}tools:
  one: { type: sample-tool, approval: { when: "amount >" } }
  two: { type: calculator, approval: { when: "amount > 1 and x" } }
  fine: { type: calculator, approval: { when: "amount > 1 && x" } }
`;
    const found = await lines({ "venturi.yaml": text });
    expect(found).to.have.length(2);
    expect(found[0]).to.match(/^venturi\.yaml:6:47 tools\.one\.approval\.when: invalid condition: .*\(character 9;/);
    expect(found[1]).to.match(/^venturi\.yaml:7:46 tools\.two\.approval\.when: invalid condition: .*`&&`/);
  });

  it("a schema that cannot be used is reported where it is wrong: of inputs, answers and working memory", async () => {
    const text = `${preamble}providers: { p: { type: sample-provider } }
tools:
  notes:
    type: remember
    schema:
      type: object
      properties:
        likes: { type: array, items: { type: strng } }
agents:
  one: { model: p/m, inputs: { customer: { type: txt } } }
  two:
    model: p/m
    output:
      type: object
      properties:
        when: { anyOf: [{ type: string }, { pattern: "(" }] }
  three: { model: p/m, output: { properties: { day: { $ref: "#/nope" } } } }
  four: { model: p/m, inputs: { day: { properties: { on: 3 } } } }
  five: { model: pp/m }
  six: { model: man }
`;
    const found = await lines({ "venturi.yaml": text });
    expect(found.map((line) => line.replace(/: .*/, ""))).to.have.members([
      "venturi.yaml:12:38 tools.notes.schema.properties.likes.items",
      "venturi.yaml:14:42 agents.one.inputs.customer",
      "venturi.yaml:20:43 agents.two.output.properties.when.anyOf[1]",
      "venturi.yaml:21:53 agents.three.output.properties.day",
      "venturi.yaml:22:38 agents.four.inputs.day",
      "venturi.yaml:23:18 agents.five.model",
      "venturi.yaml:24:17 agents.six.model",
    ]);
    const [memory] = found.filter((line) => line.includes("tools.notes"));
    expect(memory).to.match(/not a valid JSON Schema: .*"type" must be one of/);
  });

  it("an entry that is wrong keeps no other from being checked, though its plugin is loaded earlier", async () => {
    const text = `${preamble}tools:
  first: { type: recall, store: mor }
  loaded: { type: sample-tool, gretting: hi }
  second: { type: recall, store: mor }
`;
    const found = await lines({ "venturi.yaml": text });
    const places = found.map((line) => line.split(" ")[1]);
    expect(places).to.have.members(["tools.first.store:", "tools.loaded.gretting:", "tools.second.store:"]);
  });

  it("memories are checked where they are named: by agents, by tools, and their models", async () => {
    const text = `${preamble}providers: { p: { type: sample-provider } }
memories:
  notes: { type: sqlit, path: ./n.db }
  more: { type: memory, embed: q/large, longst: 3 }
  most: { type: memory, embed: large, near: 2 }
tools:
  recall: { type: recall, store: mor }
  memorize: { type: memorize, store: nowhere, scope: everybody }
agents:
  one: { model: p/m, memory: { recall: { store: note, top: 0 } } }
  two: { model: p/m, memory: { recal: {} } }
`;
    expect(await lines({ "venturi.yaml": text })).to.deep.equal([
      'venturi.yaml:7:18 memories.notes: there is no plugin "sqlit" (did you mean "sqlite"?)',
      'venturi.yaml:8:32 memories.more.embed: "q" is not among the providers (did you mean "p"?)',
      'venturi.yaml:8:41 memories.more.longst: unknown key (did you mean "longest"?)',
      "venturi.yaml:9:32 memories.most.embed: expected provider/model",
      "venturi.yaml:9:45 memories.most.near: too big: expected number to be <=1",
      'venturi.yaml:11:34 tools.recall.store: "mor" is not among the memories',
      "venturi.yaml:12:54 tools.memorize.scope: expected one of session, user, agent",
      'venturi.yaml:14:49 agents.one.memory.recall.store: "note" is not among the memories (did you mean "notes"?)',
      "venturi.yaml:14:60 agents.one.memory.recall.top: too small: expected number to be >=1",
      'venturi.yaml:15:32 agents.two.memory.recal: unknown key (did you mean "recall"?)',
    ]);
  });

  it("keys with the same id or the same hash, and the hash of nothing, are refused", async () => {
    const hash = (digit: string) => digit.repeat(64);
    const text = `${preamble}server:
  auth:
    keys:
      - { id: a, sha256: "${hash("1")}" }
      - { id: a, sha256: "${hash("2")}" }
      - { id: b, sha256: "${hash("1")}" }
      - { id: c, sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 }
`;
    expect(await lines({ "venturi.yaml": text })).to.deep.equal([
      'venturi.yaml:9:15 server.auth.keys[1].id: there is another key with the id "a"',
      "venturi.yaml:10:26 server.auth.keys[2].sha256: there is another id with this key",
      "venturi.yaml:11:26 server.auth.keys[3].sha256: this is the SHA-256 of an empty key; was the variable set?",
    ]);
  });

  it("a plugin of the wrong kind is refused", async () => {
    const text = `${preamble}providers:\n  p: { type: sample-tool }`;
    expect(await lines({ "a.yaml": text })).to.deep.equal([
      'a.yaml:6:14 providers.p: the plugin "sample-tool" is a tool, not a provider',
    ]);
  });

  it("a key that a tool shares with all tools reaches both", async () => {
    const tools = "tools: { greet: { type: sample-tool, timeout: 2s, approval: { when: who == 'x' }, effect: pure } }";
    const { greet } = (await load({ "a.yaml": `${preamble}${tools}` })).tools;
    expect(greet).to.include({ timeout: 2000, effect: "pure" });
    expect(greet?.options).to.deep.equal({ greeting: "hello", timeout: 2000, approval: { when: "who == 'x'" } });
  });

  it("a name in the wrong form is refused at its key", async () => {
    expect(await lines({ "a.yaml": `${preamble}tools:\n  "get weather": { type: sample-tool }` })).to.deep.equal([
      "a.yaml:6:3 tools.get weather: this name has characters other than letters, digits, _ and - (at most 64)",
    ]);
  });

  it("a missing key is reported where it belongs", async () => {
    expect(await lines({ "a.yaml": `${preamble}agents:\n  one: { tools: [] }` })).to.deep.equal([
      "a.yaml:6:3 agents.one.model: this key is required",
    ]);
  });

  it("values of the wrong type are reported in plain words", async () => {
    const text = `${preamble}agents: []\nlimits: { activeRuns: many, body: -1 }\ntelemetry: { content: ful }\nserver: 7`;
    expect(await lines({ "a.yaml": text })).to.deep.equal([
      "a.yaml:5:9 agents: expected keys and values, found a list",
      "a.yaml:6:23 limits.activeRuns: expected a number, found a text",
      'a.yaml:6:35 limits.body: expected a size such as "512B", "64KiB" or "4MiB"',
      'a.yaml:7:23 telemetry.content: expected one of off, truncated, full (did you mean "full"?)',
      "a.yaml:8:9 server: expected keys and values, found a number",
    ]);
  });

  it("an invalid JSON Schema is reported with its place", async () => {
    const agent = "model: p/m, inputs: { age: { type: nmber } }, output: { type: object, properties: 7 }";
    const text = `${preamble}providers: { p: { type: sample-provider } }\nagents: { one: { ${agent} } }`;
    const [first, second] = await lines({ "a.yaml": text });
    expect(first).to.match(/^a\.yaml:6:45 agents\.one\.inputs\.age: not a valid JSON Schema: /);
    expect(second).to.match(/^a\.yaml:6:72 agents\.one\.output: not a valid JSON Schema: /);
  });

  it("telemetry can be off", async () => {
    expect((await load({ "a.yaml": `${preamble}telemetry: off` })).telemetry.enabled).to.equal(false);
  });

  it("the model of an agent may have slashes after its provider", async () => {
    const text = `${preamble}providers: { p: { type: sample-provider } }\nagents: { one: { model: p/meta/llama-3/8b } }`;
    expect((await load({ "a.yaml": text })).agents.one?.model).to.equal("p/meta/llama-3/8b");
  });

  describe("entries that are not enabled", () => {
    const text = `${preamble}providers:
  real: { type: anything-at-all, apiKey: "\${env:KEY:-}", enabled: "\${env:KEY:-}" }
  demo: { type: sample-provider }
models: { main: { chain: [real/large, demo/small] } }
agents: { one: { model: main } }
`;
    it("are left out, also of the chains", async () => {
      const config = await load({ "a.yaml": text });
      expect(Object.keys(config.providers)).to.deep.equal(["demo"]);
      expect(config.models.main?.chain).to.deep.equal(["demo/small"]);
    });

    it("come in when their variable is set", async () => {
      const written = text.replace("anything-at-all", "sample-provider");
      const config = await load({ "a.yaml": written }, [], { KEY: "sk-1" });
      expect(config.models.main?.chain).to.deep.equal(["real/large", "demo/small"]);
    });

    it("may not be the only entries of a chain or an agent", async () => {
      const alone = text.replace(", demo/small", "").replace("model: main", "model: real/x");
      expect(await lines({ "a.yaml": alone })).to.deep.equal([
        "a.yaml:8:26 models.main.chain: every provider of this chain is disabled",
        'a.yaml:9:25 agents.one.model: the provider "real" is disabled',
      ]);
    });

    it("the journal is needed", async () => {
      const without = preamble.replace("sample-journal", "sample-journal, enabled: false");
      expect((await lines({ "a.yaml": without }))[0]).to.match(/journal: the journal can't be disabled/);
    });
  });

  describe("references to variables and files", () => {
    const provider = (options: string) => `${preamble}providers: { p: { type: sample-provider, ${options} } }`;

    it("are replaced after parsing, so that a value can't become YAML", async () => {
      const env = { KEY: "a: [b, {c: d}] # e\n- f" };
      const config = await load({ "a.yaml": provider('apiKey: "x${env:KEY}y"') }, [], env);
      expect(config.providers.p?.options).to.include({ apiKey: `x${env.KEY}y` });
    });

    it("are not expanded inside replaced values", async () => {
      const config = await load({ "a.yaml": provider("apiKey: '${env:A}'") }, [], { A: "${env:B}", B: "secret" });
      expect(config.providers.p?.options).to.include({ apiKey: "${env:B}" });
    });

    it("give numbers and booleans where those are expected, and text where text is", async () => {
      const text = provider("attempts: '${env:N}', loud: '${env:T}', apiKey: '${env:N}'");
      const config = await load({ "a.yaml": text }, [], { N: "12", T: "true" });
      expect(config.providers.p?.options).to.include({ attempts: 12, loud: true, apiKey: "12" });
    });

    it("give booleans also where other types are allowed", async () => {
      const text = `${preamble}server: { trustProxy: "\${env:T}" }`;
      expect((await load({ "a.yaml": text }, [], { T: "true" })).server.trustProxy).to.equal(true);
      expect(await lines({ "a.yaml": text }, [], { T: "maybe" })).to.deep.equal([
        "a.yaml:5:23 server.trustProxy: expected true or false or a list, found a text",
      ]);
    });

    it("never show their values in an error", async () => {
      const text = `${preamble}agents: { one: { model: "\${env:M}", tools: ["\${env:M}"] } }`;
      expect((await lines({ "a.yaml": text }, [], { M: "sk-secret" })).join())
        .to.include("${env:M}")
        .and.not.include("sk-secret");
    });

    it("take the default when the variable is not set or empty", async () => {
      const text = provider("apiKey: '${env:A:-one}${env:B:-two}'");
      expect((await load({ "a.yaml": text }, [], { B: "" })).providers.p?.options).to.include({ apiKey: "onetwo" });
    });

    it("read a file relative to the config, without its last newline", async () => {
      const files = { "conf/a.yaml": provider("apiKey: '${file:../secret}'"), secret: "sk-2\n" };
      expect((await load(files)).providers.p?.options).to.include({ apiKey: "sk-2" });
    });

    it("a variable that is not set is one error, not two", async () => {
      expect(await lines({ "a.yaml": provider("attempts: '${env:NOT_SET}'") })).to.deep.equal([
        "a.yaml:5:52 providers.p.attempts: the variable NOT_SET is not set; set it or write ${env:NOT_SET:-default}",
      ]);
    });

    it("a file that is not there is an error", async () => {
      expect((await lines({ "a.yaml": provider("apiKey: '${file:gone}'") }))[0]).to.match(/gone does not exist$/);
    });
  });

  describe("includes", () => {
    it("merge maps from several files, by pattern", async () => {
      const config = await load({
        "a.yaml": `${preamble}include: [agents/*.yaml]\nproviders: { p: { type: sample-provider } }`,
        "agents/one.yaml": "agents: { one: { model: p/m } }",
        "agents/two.yaml": "version: 1\nagents: { two: { model: p/m } }",
      });
      expect(Object.keys(config.agents)).to.deep.equal(["one", "two"]);
    });

    it("name their plugins relative to themselves", async () => {
      const config = await load({
        "a.yaml": `include: [sub/b.yaml]\n${preamble}tools: { extra: { type: extra } }`,
        "sub/b.yaml": "plugins: [./extra.js]",
        "sub/extra.js": `import tool from ${JSON.stringify(`file://${sample("tool")}`)}; export default { ...tool, name: "extra" };`,
      });
      expect(config.tools.extra?.loaded.from).to.equal(folder.path("sub/extra.js"));
    });

    it("a key set twice names both places", async () => {
      const files = {
        "a.yaml": `${preamble}include: [b.yaml]\nlimits: { body: 1MiB }`,
        "b.yaml": "limits:\n  body: 2MiB",
      };
      expect(await lines(files)).to.deep.equal(["b.yaml:2:3 limits.body: this key is already set at a.yaml:6:11"]);
    });

    it("one that is missing is reported where it is named", async () => {
      expect((await lines({ "a.yaml": `${preamble}include: [gone.yaml]` }))[0]).to.match(
        /^a.yaml:5:11: .*gone\.yaml does not exist$/,
      );
    });

    it("that form a circle are reported as the circle", async () => {
      const files = { "a.yaml": `${preamble}include: [b.yaml]`, "b.yaml": "include: [a.yaml]" };
      expect((await lines(files))[0]).to.match(
        /^b.yaml:1:11 include: the includes form a circle: .*a\.yaml → .*b\.yaml → .*a\.yaml$/,
      );
    });

    it("that are no list of names are refused", async () => {
      expect((await lines({ "a.yaml": `${preamble}include: [{}]` }))[0]).to.match(
        /include: expected a list of file names/,
      );
    });
  });

  describe("--set", () => {
    it("overrides and adds values of any type", async () => {
      const config = await load({ "a.yaml": `${preamble}limits: { body: 1MiB }` }, [
        "limits.body=2MiB",
        "limits.activeRuns=7",
        "providers.p.type=sample-provider",
        "providers.p.apiKey=123",
        "server.hosts=[a.example, b.example]",
      ]);
      expect(config.limits).to.include({ body: 2 * 2 ** 20, activeRuns: 7 });
      expect(config.providers.p?.options).to.include({ apiKey: "123" });
      expect(config.server.hosts).to.deep.equal(["a.example", "b.example"]);
    });

    it("a number without its unit means what it means in YAML", async () => {
      const yaml = await load({ "a.yaml": `${preamble}server: { wedged: 0 }\nlimits: { body: 4096, drain: 1500 }` });
      const set = await load({ "a.yaml": preamble }, ["server.wedged=0", "limits.body=4096", "limits.drain=1500"]);
      expect(set.limits).to.deep.equal(yaml.limits);
      expect([set.server.wedged, set.limits.drain]).to.deep.equal([0, 1_500]);
    });

    it("takes a dot within a key as \\.", async () => {
      const config = await load({ "a.yaml": preamble }, ["providers.v1\\.2.type=sample-provider"]);
      expect(Object.keys(config.providers)).to.deep.equal(["v1.2"]);
    });

    it("a mistake in it is reported as its own", async () => {
      expect(await lines({ "a.yaml": preamble }, ["limits.bdy=1"])).to.deep.equal([
        '--set limits.bdy limits.bdy: unknown key (did you mean "body"?)',
      ]);
    });

    it("without a value is a usage error", async () => {
      const error = await load({ "a.yaml": preamble }, ["limits.body"]).catch((thrown: VenturiError) => thrown);
      expect((error as VenturiError).exit).to.equal(2);
    });
  });

  describe("bad files", () => {
    const bomb = ["a: &a [x, x, x, x, x, x, x, x, x, x]"];
    for (let level = 1; level < 9; level++) {
      const [to, from] = [String.fromCharCode(97 + level), String.fromCharCode(96 + level)];
      bomb.push(`${to}: &${to} [${Array(10).fill(`*${from}`).join(", ")}]`);
    }
    const deep = `limits: ${"[".repeat(200)}${"]".repeat(200)}`;
    const cases: [string, string | Buffer, RegExp][] = [
      ["duplicate keys", "version: 1\nlimits: {}\nlimits: {}", /^bad.yaml:3:1: this key is already set above$/],
      ["an alias bomb", bomb.join("\n"), /^bad.yaml:\d+:\d+: more than 100000 values once its aliases are followed/],
      ["an alias of itself", "a: &a [*a]", /^bad.yaml:1:\d+: /],
      ["an alias of nothing", "a: *gone", /^bad.yaml:1:4 a: the alias \*gone stands for nothing$/],
      ["deep nesting", deep, /nested more than 64 deep/],
      ["a __proto__ key", "__proto__: { polluted: 1 }", /^bad.yaml:1:1 __proto__: this name can't be used as a key$/],
      ["5 MiB", `# ${"x".repeat(5 * 2 ** 20)}`, /^bad.yaml: has 5\.0 MiB; at most 1 MiB is read/],
      ["invalid UTF-8", Buffer.from([0x61, 0x3a, 0x20, 0xff, 0xfe]), /^bad.yaml: is not valid UTF-8/],
      ["bad YAML", "a: [1, 2", /^bad.yaml:1:\d+: not valid YAML: /],
      ["a tab as indentation", "a:\n\tb: 1", /^bad.yaml:2:1: not valid YAML: /],
      ["a list at the top", "- a\n- b", /^bad.yaml:1:1: expected keys and values/],
      ["two documents", "a: 1\n---\nb: 2", /^bad.yaml:\d+:1: not valid YAML: /],
    ];
    for (const [what, content, expected] of cases) {
      it(`${what}: one clear line, no stack`, async () => {
        writeFileSync(folder.path("bad.yaml"), content);
        const error = await loadConfig({ file: folder.path("bad.yaml") }).catch((thrown: VenturiError) => thrown);
        const text = (error as VenturiError).message.replaceAll(folder.path("/"), "");
        expect((error as VenturiError).code).to.equal("config_invalid");
        expect(text.split("\n")[0]).to.match(expected);
        expect(text).not.to.match(/^\s+at /m);
      });
    }

    it("a folder, or nothing at all, is named", async () => {
      mkdirSync(folder.path("dir"));
      for (const [name, expected] of [
        ["dir", /dir: is a folder, not a file$/],
        [
          "gone.yaml",
          /gone.yaml: does not exist; `venturi init` writes one to begin with, --config FILE names another$/,
        ],
      ] as const) {
        const error = await loadConfig({ file: folder.path(name) }).catch((thrown: VenturiError) => thrown);
        expect((error as VenturiError).message).to.match(expected);
      }
    });

    it("__proto__ pollutes nothing", () => {
      expect(({} as { polluted?: number }).polluted).to.equal(undefined);
    });
  });

  describe("the address", () => {
    const server = (text: string) => ({ "a.yaml": `${preamble}server: ${text}` });
    const key = `{ id: ci, sha256: ${"ab".repeat(32)} }`;

    it("that can be reached from outside needs keys", async () => {
      for (const listen of ["0.0.0.0:80", ":80", "'[::]:80'", "10.0.0.1:80", "example.com:80"]) {
        expect((await lines(server(`{ listen: ${listen} }`)))[0], listen).to.match(/can be reached from outside/);
      }
      expect((await load(server(`{ listen: ":80", auth: { keys: [${key}] } }`))).server.listen.host).to.equal(
        "0.0.0.0",
      );
    });

    it("may be a port, a loopback name or number", async () => {
      for (const [listen, host] of [
        ["7071", "127.0.0.1"],
        ["localhost:7071", "localhost"],
        ["'[::1]:7071'", "::1"],
      ]) {
        expect((await load(server(`{ listen: ${listen} }`))).server.listen).to.deep.equal({ host, port: 7071 });
      }
    });

    it("that is invalid is refused", async () => {
      for (const listen of ["localhost", "1.2.3.4:99999", "a:b:c"]) {
        expect((await lines(server(`{ listen: "${listen}" }`)))[0], listen).to.match(/write host:port/);
      }
    });

    it("keys name agents that exist and hold a digest", async () => {
      const text = "{ auth: { keys: [{ id: a, sha256: sk-123, agents: [nobody] }] } }";
      expect(await lines(server(text))).to.deep.equal([
        "a.yaml:5:43 server.auth.keys[0].sha256: expected the SHA-256 of the key as 64 hex digits",
        'a.yaml:5:60 server.auth.keys[0].agents[0]: "nobody" is not among the agents',
      ]);
    });
  });
});
