import { expect } from "chai";
import { wantedCalls } from "../../../../plugins/simulator/model/wanted.ts";
import { message, type Prompt, type PromptTool } from "../../../../plugins/simulator/prompt.ts";
import { both } from "../tools.ts";

const string = { type: "string" };
const tool = (
  name: string,
  description: string,
  properties: object,
  required = Object.keys(properties),
): PromptTool => ({
  name,
  description,
  parameters: { type: "object", properties, required },
});

const shop = [
  ...both,
  tool("order_status", "Looks up where an order is.", { orderId: string }),
  tool(
    "weather",
    "The weather of a place.",
    { city: string, unit: { type: "string", enum: ["celsius", "fahrenheit"] } },
    ["city"],
  ),
  tool("search_web", "Searches the web.", { query: string, limit: { type: "integer" } }, ["query"]),
  tool("read_file", "Reads a text file.", { path: string }),
  tool("list_files", "Lists files and folders.", { path: string }, []),
  tool("fetch", "Fetches a page.", { url: { type: "string", format: "uri" } }),
  tool("send_email", "Sends an email.", { to: { type: "string", format: "email" }, subject: string }),
  tool("set_light", "Switches a lamp.", {
    room: { type: "string", enum: ["kitchen", "bath"] },
    on: { type: "boolean" },
    brightness: { type: "number" },
  }),
];

const asked = (text: string, more: Partial<Prompt> = {}): [string, unknown][] => {
  const prompt: Prompt = {
    model: "small",
    streaming: true,
    messages: [message("user", text)],
    tools: shop,
    toolChoice: "auto",
    schema: undefined,
    reasoning: false,
    usage: true,
    ...more,
  };
  return wantedCalls(text, prompt).map((call) => [call.tool.name, call.arguments]);
};

const cases: [string, [string, unknown][]][] = [
  ["What time is it?", [["clock", {}]]],
  ["what's the date today", [["clock", {}]]],
  ["Tell me the time in New York please", [["clock", { timeZone: "America/New_York" }]]],
  [
    "What time is it in Tokyo and London?",
    [
      ["clock", { timeZone: "Asia/Tokyo" }],
      ["clock", { timeZone: "Europe/London" }],
    ],
  ],
  ["What is 2+2?", [["calculator", { expression: "2+2" }]]],
  ["how much is 1,200 divided by 4?", [["calculator", { expression: "1200 / 4" }]]],
  ["Please calculate (3 + 4) * sqrt(16).", [["calculator", { expression: "(3 + 4) * sqrt(16)" }]]],
  ["what is 15% of 80", [["calculator", { expression: "15% * 80" }]]],
  ["the sum of 2, 3 and 4", [["calculator", { expression: "2 + 3 + 4" }]]],
  ["the square root of 144", [["calculator", { expression: "sqrt(144)" }]]],
  [
    "12 times 12 and the time in Paris",
    [
      ["calculator", { expression: "12 * 12" }],
      ["clock", { timeZone: "Europe/Paris" }],
    ],
  ],
  ["Where is my order A-17?", [["order_status", { orderId: "A-17" }]]],
  [
    "Check the status of orders A-17 and B-22",
    [
      ["order_status", { orderId: "A-17" }],
      ["order_status", { orderId: "B-22" }],
    ],
  ],
  ["What's the weather in San Francisco in fahrenheit?", [["weather", { city: "San Francisco", unit: "fahrenheit" }]]],
  [
    "weather in Paris and London",
    [
      ["weather", { city: "Paris" }],
      ["weather", { city: "London" }],
    ],
  ],
  ["Search the web for salt and pepper", [["search_web", { query: "salt and pepper" }]]],
  ['look up "venturi tube" on the web, limit 5', [["search_web", { query: "venturi tube", limit: 5 }]]],
  ["Read the file docs/intro.md", [["read_file", { path: "docs/intro.md" }]]],
  ["list the files", [["list_files", {}]]],
  ["Fetch https://example.com/a?b=1.", [["fetch", { url: "https://example.com/a?b=1" }]]],
  ["send an email to ada@example.com about the launch", [["send_email", { to: "ada@example.com", subject: "launch" }]]],
  ["switch the kitchen light on at brightness 70", [["set_light", { room: "kitchen", on: true, brightness: 70 }]]],
];

describe("which tools the built-in model calls", () => {
  for (const [text, calls] of cases) {
    it(`"${text}" asks for ${calls.map(([name]) => name).join(" and ")}`, () => {
      expect(asked(text)).to.deep.equal(calls);
    });
  }

  for (const text of [
    "hello",
    "Tell me a joke",
    "What can you do?",
    "My name is Ada",
    "thanks, that was good",
    "I was born on 1990-02-03",
    "call me at 555-1234",
    "write a poem about the sea",
    "How are you today?",
    "it took me a long time",
  ]) {
    it(`"${text}" asks for none`, () => {
      expect(asked(text)).to.deep.equal([]);
    });
  }

  it("numbers fill a tool's number parameters in order", () => {
    const add = tool("add_numbers", "Adds two numbers.", { a: { type: "number" }, b: { type: "integer" } });
    expect(asked("what is 2.5 plus 3", { tools: [add] })).to.deep.equal([["add_numbers", { a: 2.5, b: 3 }]]);
  });

  it("a tool without required parameters still gets a search term", () => {
    const search = tool("files_search", "Finds files.", { name: string, text: string }, []);
    expect(asked("search for apples", { tools: [search] })).to.deep.equal([["files_search", { text: "apples" }]]);
  });

  it("a tool that must be called is called, whatever was said", () => {
    expect(asked("hello", { toolChoice: { name: "search_web" } })).to.deep.equal([["search_web", { query: "hello" }]]);
    expect(asked("hello", { toolChoice: "required" })).to.have.length(1);
    expect(asked("what time is it", { toolChoice: "none" })).to.deep.equal([]);
  });
});
