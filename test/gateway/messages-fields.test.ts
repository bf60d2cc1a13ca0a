import type Anthropic from "@anthropic-ai/sdk";
import { assert } from "chai";
import fc from "fast-check";
import { begin, end, stop } from "../plugins/anthropic/events.ts";
import * as chat from "../plugins/openai/streams.ts";
import { type Gateway, gateway, opened } from "./gateway.ts";
import { messagesRequest } from "./messages-requests.ts";

type Body = Record<string, unknown>;
type Turn = { role: string; content: unknown };

const answer = begin + stop("end_turn") + end;
const path = "/anthropic/v1/messages";

describe("a request of Anthropic's clients", () => {
  let open: Gateway;
  afterEach(() => open.close());

  it("reaches Anthropic's API as it was, whatever of its schema it uses", async () => {
    // Breakpoints that Venturi sets by itself are tested with the cache.
    const more = "models: { plain: { chain: [up/m], cache: off } }";
    open = await gateway({
      provider: "anthropic",
      answer,
      more,
      agents: `agents: { agent: { model: plain${opened} } }`,
    });
    await fc.assert(
      fc.asyncProperty(messagesRequest, async (request) => {
        const before = open.vendor.requests.length;
        const response = await open.post(
          path,
          { ...request, model: "agent" },
          { "anthropic-beta": "one-2026-01-01, two" },
        );
        const said = await response.text();
        assert.equal(response.status, 200, said);
        assert.isNull(response.headers.get("venturi-warnings"));
        assert.equal(open.vendor.requests[before]?.request.headers["anthropic-beta"], "one-2026-01-01,two");
        assert.deepEqual(expected(open.bodies()[before] ?? {}), expected(JSON.parse(JSON.stringify(request))));
      }),
      { numRuns: 60, seed: 17 },
    );
  });

  it("names in the answer what a model behind another wire does not get", async () => {
    open = await gateway({ provider: "openai", answer: chat.text });
    const request = {
      model: "agent",
      max_tokens: 10,
      top_k: 5,
      context_management: { edits: [] },
      thinking: { type: "adaptive" },
      output_config: { effort: "high" },
      tools: [
        { type: "web_search_20250305", name: "web_search" },
        { name: "look", input_schema: { type: "object" }, cache_control: { type: "ephemeral" } },
      ],
      tool_choice: { type: "auto", disable_parallel_tool_use: true },
      messages: [{ role: "user", content: [{ type: "text", text: "hi", cache_control: { type: "ephemeral" } }] }],
    } satisfies Anthropic.MessageCreateParams & Body;
    const response = await open.post(path, request);
    assert.equal(response.status, 200);
    assert.deepEqual(response.headers.get("venturi-warnings")?.split(", ").sort(), [
      "context_management",
      "messages.content.cache_control",
      "tools.cache_control",
      "tools.web_search_20250305",
      "top_k",
    ]);
    assert.deepInclude(open.bodies()[0], { reasoning_effort: "high" });
    const strict = await open.post(path, { ...request, top_k: undefined }, {});
    assert.equal(strict.status, 200);
  });
});

/** What is the same to the API: docs/http.md has the list. */
function expected({ model: _, stream: _stream, ...body }: Body): Body {
  const messages = (body.messages as Turn[]).map(({ role, content, ...rest }) => ({
    role,
    content: blocksOf(content),
    ...rest,
  }));
  return { ...body, messages };
}

const blocksOf = (content: unknown): unknown =>
  typeof content === "string" ? [{ type: "text", text: content }] : content;
