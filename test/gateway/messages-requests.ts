import type Anthropic from "@anthropic-ai/sdk";
import fc from "fast-check";

type Params = Anthropic.MessageCreateParamsNonStreaming;

/** Leaves out what is undefined, as JSON does. */
const some = <T extends object>(
  shape: { [K in keyof T]: fc.Arbitrary<T[K]> },
  required: (keyof T)[],
): fc.Arbitrary<T> => fc.record(shape, { requiredKeys: required as never[] }) as unknown as fc.Arbitrary<T>; // optional keys may be absent

const word = fc.stringMatching(/^[a-z]{1,8}$/);
const text = fc.string({ minLength: 1, maxLength: 20 }).map((said) => `t${said}`);
const id = fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/);
const base64 = fc.uint8Array({ minLength: 1, maxLength: 12 }).map((bytes) => Buffer.from(bytes).toString("base64"));
const url = word.map((name) => `https://example.com/${name}`);

const cache_control = fc.constantFrom<Anthropic.CacheControlEphemeral>(
  { type: "ephemeral" },
  { type: "ephemeral", ttl: "1h" },
  { type: "ephemeral", ttl: "5m" },
);

const textBlock = some<Anthropic.TextBlockParam>({ type: fc.constant("text"), text, cache_control }, ["type", "text"]);
const image = some<Anthropic.ImageBlockParam>(
  {
    type: fc.constant("image"),
    source: fc.oneof(
      fc.record({ type: fc.constant("base64" as const), media_type: fc.constant("image/png" as const), data: base64 }),
      fc.record({ type: fc.constant("url" as const), url }),
      fc.record({ type: fc.constant("file" as const), file_id: id }),
    ),
    cache_control,
  },
  ["type", "source"],
);
const document = some<Anthropic.DocumentBlockParam>(
  {
    type: fc.constant("document"),
    source: fc.oneof(
      fc.record({
        type: fc.constant("base64" as const),
        media_type: fc.constant("application/pdf" as const),
        data: base64,
      }),
      fc.record({ type: fc.constant("text" as const), media_type: fc.constant("text/plain" as const), data: text }),
      fc.record({ type: fc.constant("url" as const), url }),
      fc.record({ type: fc.constant("content" as const), content: text }),
      fc.record({ type: fc.constant("file" as const), file_id: id }),
    ),
    title: word,
    context: text,
    citations: fc.record({ enabled: fc.boolean() }),
    cache_control,
  },
  ["type", "source"],
);
const searchResult = fc.record<Anthropic.SearchResultBlockParam>({
  type: fc.constant("search_result"),
  title: text,
  source: url,
  content: fc.array(fc.record({ type: fc.constant("text" as const), text }), { minLength: 1, maxLength: 2 }),
});

const asked = fc.array(fc.oneof(textBlock, image, document, searchResult), { minLength: 1, maxLength: 3 });

/** A question, the calls that it led to, and what came of them. */
const exchange = fc
  .record({
    asked: fc.oneof(text, asked),
    thought: fc.option(
      fc.oneof(
        fc.record<Anthropic.ThinkingBlockParam>({ type: fc.constant("thinking"), thinking: text, signature: id }),
        fc.record<Anthropic.RedactedThinkingBlockParam>({ type: fc.constant("redacted_thinking"), data: id }),
      ),
    ),
    said: fc.option(textBlock),
    searched: fc.boolean(),
    calls: fc.uniqueArray(
      fc.record({
        use: some<Anthropic.ToolUseBlockParam>(
          {
            type: fc.constant("tool_use"),
            id,
            name: word,
            input: fc.dictionary(word, fc.jsonValue()),
            cache_control,
          },
          ["type", "id", "name", "input"],
        ),
        content: fc.oneof(
          text,
          fc.array(fc.oneof(textBlock, image, document, searchResult), { minLength: 1, maxLength: 3 }),
        ),
        is_error: fc.boolean(),
        cache: fc.option(cache_control),
      }),
      { minLength: 1, maxLength: 2, selector: ({ use }) => use.id },
    ),
  })
  .map(({ asked, thought, said, searched, calls }): Anthropic.MessageParam[] => [
    { role: "user", content: asked },
    {
      role: "assistant",
      content: [
        ...(thought ? [thought] : []),
        ...(searched ? webSearch : []),
        ...(said ? [said] : []),
        ...calls.map(({ use }) => use),
      ],
    },
    {
      role: "user",
      content: calls.map(({ use, content, is_error, cache }) => ({
        type: "tool_result" as const,
        tool_use_id: use.id,
        content,
        ...(is_error ? { is_error } : {}),
        ...(cache ? { cache_control: cache } : {}),
      })),
    },
    { role: "assistant", content: "done" },
  ]);

const webSearch: Anthropic.ContentBlockParam[] = [
  { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "x" } },
  {
    type: "web_search_tool_result",
    tool_use_id: "srvtoolu_1",
    content: [{ type: "web_search_result", title: "a", url: "https://a.b", encrypted_content: "zzz" }],
  },
];

const messages = fc
  .tuple(fc.array(exchange, { maxLength: 2 }), fc.oneof(text, asked))
  .map(([exchanges, last]): Anthropic.MessageParam[] => [...exchanges.flat(), { role: "user", content: last }]);

const tool = fc.oneof(
  some<Anthropic.Tool & { strict?: boolean }>(
    {
      name: word,
      input_schema: fc.constantFrom(
        { type: "object" as const, properties: { a: { type: "string" } }, required: ["a"] },
        { type: "object" as const },
      ),
      description: text,
      type: fc.constant("custom" as const),
      strict: fc.boolean(),
      cache_control,
    },
    ["name", "input_schema"],
  ),
  fc.constantFrom<Anthropic.ToolUnion>(
    { type: "web_search_20250305", name: "web_search", max_uses: 3 },
    { type: "bash_20250124", name: "bash" },
    { type: "code_execution_20250825", name: "code_execution" },
  ),
);

const choice = fc.oneof(
  some<Anthropic.ToolChoiceAuto>({ type: fc.constant("auto"), disable_parallel_tool_use: fc.boolean() }, ["type"]),
  some<Anthropic.ToolChoiceAny>({ type: fc.constant("any"), disable_parallel_tool_use: fc.boolean() }, ["type"]),
  fc.constant<Anthropic.ToolChoiceNone>({ type: "none" }),
);

/** Requests by the types of the vendor's own SDK, and a field that it does not have yet. */
export const messagesRequest: fc.Arbitrary<Params> = fc
  .record({
    base: some<Params & { top_k: number; context_management: object; invented_tomorrow: unknown }>(
      {
        model: fc.constant("agent"),
        max_tokens: fc.integer({ min: 1, max: 9_000 }),
        messages,
        system: fc.oneof(text, fc.array(textBlock, { minLength: 1, maxLength: 2 })),
        temperature: fc.constantFrom(0, 0.5, 1),
        top_p: fc.constantFrom(0.1, 0.9),
        top_k: fc.integer({ min: 1, max: 9 }),
        stop_sequences: fc.array(word, { minLength: 1, maxLength: 2 }),
        metadata: fc.record({ user_id: word }),
        service_tier: fc.constantFrom("auto" as const, "standard_only" as const),
        thinking: fc.constantFrom<Anthropic.ThinkingConfigParam>(
          { type: "adaptive" },
          { type: "disabled" },
          { type: "enabled", budget_tokens: 1_024 },
        ),
        output_config: fc.constantFrom<Anthropic.OutputConfig>({ effort: "low" }, { effort: "max" }),
        container: id,
        inference_geo: word,
        cache_control,
        context_management: fc.constant({ edits: [{ type: "clear_tool_uses_20250919" }] }),
        invented_tomorrow: fc.jsonValue().filter((value) => value !== null),
      } as never,
      ["model", "max_tokens", "messages"],
    ),
    tools: fc.option(
      fc.uniqueArray(tool, { minLength: 1, maxLength: 3, selector: (each) => "name" in each && each.name }),
    ),
    choice: fc.option(choice),
  })
  .map(({ base, tools, choice }) => ({
    ...base,
    ...(tools === null ? {} : { tools, ...(choice === null ? {} : { tool_choice: choice }) }),
  }));
