import { expect } from "chai";
import type { EventBody, RunEvent } from "../../src/core/run/events.ts";
import { toFixture } from "../../src/journal/fixture.ts";

type Timed = readonly [at: number, body: EventBody];

const recorded = (...timed: readonly Timed[]): RunEvent[] =>
  timed.map(([at, body], index) => ({ ...body, run: "run_7", seq: index + 1, at }) as RunEvent);

const started = (input: object): EventBody => ({ type: "run.started", agent: "a", input }) as EventBody;
const round = (number = 1): EventBody =>
  ({ type: "round.started", round: number, attempt: 1, model: "m" }) as EventBody;
const text = (value: string): EventBody => ({ type: "text.delta", round: 1, text: value });
const reasoning = (value: string): EventBody => ({ type: "reasoning.delta", round: 1, text: value }) as EventBody;
const refusal = (value: string): EventBody => ({ type: "refusal.delta", round: 1, text: value }) as EventBody;
const call = (id: string, name = "look"): EventBody =>
  ({ type: "tool_call.started", round: 1, call: id, name, index: 0 }) as EventBody;
const piece = (id: string, part: string): EventBody =>
  ({ type: "tool_call.delta", round: 1, call: id, arguments: part }) as EventBody;
const end = (finish = "stop", usage: object = {}): EventBody =>
  ({ type: "generation.finished", round: 1, finish, usage }) as EventBody;
const retracted: EventBody = { type: "round.retracted", round: 1, attempt: 1, reason: "stream_error" } as EventBody;

const turns = (...timed: readonly Timed[]) => toFixture(recorded(...timed)).turns;

describe("a scenario made from a recorded run", () => {
  it("repeats each generation in its pieces, at its mean pace, with its calls, finish and usage", () => {
    const fixture = toFixture(
      recorded(
        [0, started({ text: "hi" })],
        [0, round()],
        [10, reasoning("hm")],
        [10, reasoning("")],
        [30, text("Hel")],
        [50, text("lo")],
        [60, text("")],
        [70, call("c1")],
        [70, piece("c1", '{"a"')],
        [110, piece("c1", ":1}")],
        [110, call("c2", "other")],
        [110, piece("unknown", "?")],
        [200, end("tool_calls", { inputTokens: 5, outputTokens: 3, cacheReadTokens: 2, reasoningTokens: 1 })],
        [210, round(2)],
        [220, refusal("no")],
        [230, end("refusal", { inputTokens: 5 })],
      ),
    );
    expect(fixture).to.deep.equal({
      name: "run_7",
      match: { text: "^hi$" },
      advance: "round",
      turns: [
        {
          reasoning: ["hm"],
          text: ["Hel", "lo"],
          calls: [
            { name: "look", id: "c1", fragments: ['{"a"', ":1}"] },
            { name: "other", id: "c2", arguments: {} },
          ],
          // Six timed pieces between 10 and 110 ms.
          pace: 20,
          finish: "tool_calls",
          usage: { inputTokens: 5, outputTokens: 3, cacheReadTokens: 2, reasoningTokens: 1 },
        },
        { refusal: ["no"], pace: 0, finish: "refusal" },
      ],
    });
  });

  it("breaks a generation off where it was retracted, started over or never finished", () => {
    const cut = (words: string) => ({ text: [words], pace: 0, faults: ["missing-end"] });
    const whole = { text: ["whole"], pace: 0, finish: "stop" };
    const done: Timed[] = [
      [3, text("whole")],
      [4, end()],
    ];
    expect(turns([0, round()], [1, text("one")], [1, retracted], [2, round()], ...done)).to.deep.equal([
      cut("one"),
      whole,
    ]);
    expect(turns([0, round()], [1, text("one")], [2, round()], ...done)).to.deep.equal([cut("one"), whole]);
    expect(turns([0, round()], ...done, [5, round(2)], [6, text("half")])).to.deep.equal([whole, cut("half")]);
  });

  it("advances with each request after a broken generation, otherwise with each round", () => {
    expect(toFixture(recorded([0, round()], [1, text("half")])).advance).to.equal("request");
    expect(toFixture(recorded([0, round()], [1, text("whole")], [2, end()])).advance).to.equal("round");
  });

  it("leaves out what belongs to no generation, and a finish that no provider reports", () => {
    expect(turns([0, text("before")], [0, retracted], [0, end()], [1, round()], [2, end("pause")])).to.deep.equal([
      { pace: 0 },
    ]);
    expect(turns([1, round()], [2, end()], [3, text("after")])).to.deep.equal([{ pace: 0, finish: "stop" }]);
    for (const finish of ["stop", "tool_calls", "length", "content_filter", "refusal"]) {
      expect(turns([1, round()], [2, end(finish)])[0]).to.deep.equal({ pace: 0, finish });
    }
  });

  it("tells the usage only where input and output are both known", () => {
    const usageOf = (usage: object) => turns([1, round()], [2, end("stop", usage)])[0]?.usage;
    expect(usageOf({ inputTokens: 0, outputTokens: 0 })).to.deep.equal({ inputTokens: 0, outputTokens: 0 });
    expect(usageOf({ outputTokens: 1 })).to.equal(undefined);
    expect(usageOf({ inputTokens: 1 })).to.equal(undefined);
    expect(usageOf({ inputTokens: 1, outputTokens: 2, cacheReadTokens: 3 })).to.deep.equal({
      inputTokens: 1,
      outputTokens: 2,
      cacheReadTokens: 3,
    });
  });

  it("has no negative pace when the clock was set back", () => {
    expect(turns([0, round()], [90, text("a")], [10, text("b")], [11, end()])[0]?.pace).to.equal(0);
    expect(turns([0, round()], [0, text("a")], [3, text("b")], [3, end()])[0]?.pace).to.equal(3);
  });

  it("answers exactly the words of the run's input, however they are spelt", () => {
    const matchOf = (input: object) => toFixture(recorded([0, started(input)])).match?.text;
    const user = (...parts: object[]) => ({ role: "user", parts });
    const words = (value: string) => ({ type: "text", text: value });
    const image = { type: "image", mediaType: "image/png", data: "" };
    expect(matchOf({ text: "" })).to.equal("^$");
    const special = "a.b*c+d?e^f$g(h)i[j]k{l}m|n/o\\p";
    expect(new RegExp(matchOf({ text: special }) ?? "").test(special)).to.equal(true);
    expect(new RegExp(matchOf({ text: "a.b" }) ?? "").test("axb")).to.equal(false);
    expect(
      matchOf({
        messages: [
          user(words("first")),
          user(words("la"), image, words("st")),
          { role: "assistant", parts: [words("no")] },
        ],
      }),
    ).to.equal("^last$");
    expect(matchOf({ messages: [user(image)] })).to.equal(undefined);
    expect(matchOf({ messages: [] })).to.equal(undefined);
    expect(matchOf({ variables: {} })).to.equal(undefined);
  });

  it("of a run without a generation says nothing", () => {
    expect(toFixture([])).to.deep.equal({ name: "run", advance: "round", turns: [{ text: [""] }] });
  });
});
