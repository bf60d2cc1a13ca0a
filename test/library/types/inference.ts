import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import {
  agent,
  anthropic,
  type ContextOf,
  chain,
  context,
  jsonSchema,
  mcp,
  openai,
  openVenturi,
  type Result,
  type Run,
  type RunEventOf,
  sqlite,
  type Tool,
  type ToolContext,
  tool,
  VenturiError,
} from "../../../src/index.ts";
import { say, testVenturi, toolContext } from "../../../src/testing.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_: Equal<A, B>) => {};

const shop = context({
  stored: z.object({ userId: z.string() }),
  provide: async ({ userId }) => ({ userId, orders: new Map<string, { item: string; state: string }>() }),
});
type Shop = ContextOf<typeof shop>;

// ——— tool: arguments, output, context ———
const order = tool({
  name: "order",
  description: "Looks an order up",
  input: z.object({ order: z.string(), lang: z.string().default("en") }),
  effect: "pure",
  call({ order, lang }, { context }: ToolContext<Shop>) {
    same<typeof lang, string>(true);
    // @ts-expect-error no such argument
    order.nothing;
    return context.orders.get(order) ?? { item: "?", state: "?" };
  },
});
same<typeof order, Tool<"order", { order: string; lang?: string | undefined }, { item: string; state: string }, Shop>>(
  true,
);

const refund = tool({
  name: "refund",
  description: "Pays back",
  input: toStandardJsonSchema(v.object({ order: v.string(), amount: v.number() })),
  approval: ({ amount }) => amount > 100 && `refund of ${amount}`,
  call: async ({ amount }, ctx: ToolContext<{ readonly userId: string }>) => ({
    refunded: amount,
    by: ctx.context.userId,
  }),
});
same<
  typeof refund,
  Tool<"refund", { order: string; amount: number }, { refunded: number; by: string }, { readonly userId: string }>
>(true);

const search = tool({
  name: "search",
  description: "Searches",
  input: type({ query: "string", "limit?": "number" }),
  async *call({ query, limit }) {
    same<typeof limit, number | undefined>(true);
    yield `looking for ${query}`;
    return [query];
  },
});
same<typeof search, Tool<"search", { query: string; limit?: number }, string[], unknown>>(true);

const raw = tool({
  name: "raw",
  description: "By JSON Schema",
  input: jsonSchema<{ id: number }>({ type: "object", properties: { id: { type: "number" } }, required: ["id"] }),
  call: ({ id }) => id,
});
same<typeof raw, Tool<"raw", { id: number }, number, unknown>>(true);

// @ts-expect-error a plain valibot schema has no JSON Schema
tool({ name: "x", description: "", input: v.object({ a: v.string() }), call: () => 1 });
// @ts-expect-error no description
tool({ name: "x", input: z.object({}), call: () => 1 });
// @ts-expect-error a misspelt effect
tool({ name: "x", description: "", input: z.object({}), effect: "purr", call: () => 1 });

// ——— agent: object, inputs, context ———
const claude = anthropic();
const Answer = z.object({ answer: z.string(), sources: z.array(z.string()).default([]) });
const support = agent({
  name: "support",
  model: chain([claude("claude-sonnet-4-5"), openai()("gpt-5-mini"), "local/small"], { failover: "retract" }),
  context: shop,
  inputs: z.object({ customer: z.string(), level: z.number().default(1) }),
  instructions: ({ inputs, context }) => {
    same<typeof inputs, { customer: string; level: number }>(true);
    return `You serve ${inputs.customer} (${context.orders.size}).`;
  },
  tools: [order, refund, search],
  output: Answer,
  hooks: {
    beforeTool(call, { context }) {
      if (call.name === "refund") same<typeof call.arguments, { order: string; amount: number }>(true);
      context.orders;
      return undefined;
    },
  },
});

const plain = agent({
  name: "plain",
  model: "anthropic/claude-sonnet-4-5",
  instructions: "Help.",
  tools: [search, raw],
});
const optional = agent({ name: "optional", model: "main", inputs: z.object({ level: z.number().default(1) }) });
const mixed = agent({ name: "mixed", model: "main", tools: ["clock", mcp({ name: "github", command: "x" }), search] });

// A tool that needs more than the agent gives.
// @ts-expect-error order needs a Shop; there is none
agent({ name: "poor", model: "main", tools: [order] });
// @ts-expect-error order needs `orders`, refund is content
agent({ name: "poor", model: "main", context: z.object({ userId: z.string() }), tools: [refund, order] });
agent({ name: "rich", model: "main", context: z.object({ userId: z.string() }), tools: [refund, search] });
// @ts-expect-error an unknown key
agent({ name: "typo", model: "main", instruction: "Help." });
// @ts-expect-error no model
agent({ name: "typo" });

// ——— runs ———
const venturi = await openVenturi({
  agents: [support, plain, optional],
  journal: sqlite("./data.db"),
  providers: [claude],
});

const result = await venturi.run(support, "Where is A-17?", { inputs: { customer: "Ada" }, context: { userId: "u1" } });
same<typeof result, Result<{ answer: string; sources: string[] }>>(true);
same<typeof result.object.answer, string>(true);
same<Awaited<ReturnType<typeof plainRun>>, Result<undefined>>(true);
const plainRun = () => venturi.run(plain, "hello");
await venturi.run(optional, "hello");
await venturi.run(optional, "hello", { inputs: { level: 2 }, session: "ada" });
await venturi.run(venturi.agent("assistant"), "hello");
same<Awaited<ReturnType<typeof anyRun>>["object"], unknown>(true);
const anyRun = () => venturi.run(venturi.agent("assistant"), "hello", { inputs: { anything: 1 } });
// @ts-expect-error a name is no agent; venturi.agent("assistant") is
await venturi.run("assistant", "hello");

// @ts-expect-error inputs and context are missing
await venturi.run(support, "hello");
// @ts-expect-error context is missing
await venturi.run(support, "hello", { inputs: { customer: "Ada" } });
// @ts-expect-error a wrong input
await venturi.run(support, "hello", { inputs: { customer: 1 }, context: { userId: "u1" } });
// @ts-expect-error plain takes no inputs
await venturi.run(plain, "hello", { inputs: { a: 1 } });
// @ts-expect-error there is no object without an output schema
(await venturi.run(plain, "hello")).object.answer;
// @ts-expect-error a misspelt option
await venturi.run(plain, "hello", { sesion: "ada" });

// ——— the handle: no promise, read as often as one likes ———
async function begin() {
  return await venturi.start(support, "Where?", { inputs: { customer: "Ada" }, context: { userId: "u1" } });
}
const run = await begin();
type Tools = {
  order: { order: string; lang?: string | undefined };
  refund: { order: string; amount: number };
  search: { query: string; limit?: number };
};
same<typeof run, Run<{ answer: string; sources: string[] }, Tools>>(true);
// @ts-expect-error not a thenable
run.then;

for await (const event of run) {
  switch (event.type) {
    case "text.delta":
      same<typeof event.text, string>(true);
      break;
    case "approval.requested":
      if (event.name === "refund") {
        same<typeof event.arguments, { order: string; amount: number }>(true);
        await run.approve(event.call, { by: "ada" });
      }
      // @ts-expect-error there is no such tool
      if (event.name === "refnd") await run.deny(event.call);
      break;
    case "run.finished":
      same<typeof event.object, { answer: string; sources: string[] }>(true);
      break;
    case "run.failed":
      same<typeof event.error.err, string>(true);
      break;
  }
}
for await (const event of run.events({ types: ["tool.finished", "run.failed"], after: 7 })) {
  same<typeof event.type, "tool.finished" | "run.failed">(true);
}
// @ts-expect-error no such event
run.events({ types: ["tool.done"] });
for await (const draft of run.objects()) same<typeof draft, { answer?: string; sources?: string[] }>(true);
for await (const text of run.text()) same<typeof text, string>(true);
const outcome = await run.outcome();
if (outcome.ok) same<typeof outcome.object.answer, string>(true);
else same<typeof outcome.error, VenturiError>(true);

await venturi.run(support, "Refund it", {
  inputs: { customer: "Ada" },
  context: { userId: "u1" },
  onApproval: (asked) => asked.name === "refund" && asked.arguments.amount < 500,
});
const chat = venturi.session(plain, "ada");
same<Awaited<ReturnType<typeof chat.run>>, Result<undefined>>(true);
const found = await venturi.get("run_1", support);
same<typeof found, typeof run>(true);

type SupportEvent = RunEventOf<typeof support>;
same<Extract<SupportEvent, { type: "tool_call.ready" }>["name"], "order" | "refund" | "search">(true);
same<Extract<RunEventOf<typeof mixed>, { type: "tool_call.ready" }>["name"], string>(true);
declare const some: Extract<RunEventOf<typeof mixed>, { type: "tool_call.ready" }>;
if (some.name === "search")
  same<typeof some.arguments, { query: string; limit?: number } | Record<string, unknown>>(true);

// ——— agents as tools, handoffs ———
const triage = agent({
  name: "triage",
  model: "main",
  handoffs: [plain, "billing"],
  tools: [plain.asTool({ name: "ask_plain" })],
});
same<Awaited<ReturnType<typeof runTriage>>["object"], unknown>(true);
const runTriage = () => venturi.run(triage, "hi");
const Verdict = z.object({ verdict: z.enum(["yes", "no"]) });
const judge = agent({ name: "judge", model: "main", output: Verdict });
const front = agent({ name: "front", model: "main", output: Answer, handoffs: [judge] });
const fronted = await venturi.run(front, "hi");
same<typeof fronted.object, { answer: string; sources: string[] } | { verdict: "yes" | "no" }>(true);
const judging = judge.asTool();
same<typeof judging, Tool<"judge", { task: string }, { verdict: "yes" | "no" }, unknown>>(true);
export const chief = agent({ name: "chief", model: "main", tools: [judging] });
export const boss = agent({
  name: "boss",
  model: "main",
  context: shop,
  tools: [judge.asTool(), support.asTool({ name: "ask_support" }), order],
});
// @ts-expect-error support needs a userId that chief does not have
agent({ name: "chief", model: "main", tools: [support.asTool()] });
agent({
  name: "chief",
  model: "main",
  context: z.object({ id: z.string() }),
  tools: [support.asTool({ name: "ask", context: (c: { id: string }) => ({ userId: c.id }) })],
});
// The same JSON Schema twice, two names: no clash of types.
export const renamed = tool({
  name: "renamed",
  description: "",
  input: z.strictObject({ a: z.number() }),
  call: ({ a }) => a,
});

// ——— errors ———
try {
  await venturi.run(plain, "hello");
} catch (thrown) {
  if (VenturiError.is(thrown, "rate_limited", "unavailable"))
    same<typeof thrown.code, "rate_limited" | "unavailable">(true);
}

// ——— tests ———
const testing = await testVenturi({
  agents: [support],
  script: [
    ["Let me look. ", say.call(order, { order: "A-17" })],
    [say.object(support, { answer: "on its way", sources: [] })],
  ],
});
// @ts-expect-error the schema wants a text
say.call(order, { order: 17 });
const direct = await order.call({ order: "A-17" }, toolContext({ userId: "u1", orders: new Map() }));
same<typeof direct, { item: string; state: string }>(true);
// @ts-expect-error the context lacks `orders`
await order.call({ order: "A-17" }, toolContext({ userId: "u1" }));
await testing.close();

// ——— resources ———
{
  await using own = await openVenturi({ agents: [plain] });
  await using held = await own.start(plain, "hello");
  held.response({ as: "ai-sdk" });
}
