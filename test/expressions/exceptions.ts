/** An expression that takes more than linear time, or of which that cannot be proved, and why it does no harm. */
export interface Exception {
  readonly expression: string;
  readonly files: readonly string[];
  /** `trusted`: sees no text from outside. `bounded`: sees at most this many characters. `argued`: linear, for this reason. */
  readonly kind: "trusted" | "argued" | { readonly bounded: number };
  readonly why: string;
}

const simulator = (file: string, ...expressions: string[]): Exception[] =>
  expressions.map((expression) => ({
    expression,
    files: [`plugins/simulator/model/${file}`],
    kind: { bounded: 4_096 },
    why: "smallModel cuts every text it is given",
  }));

export const exceptions: readonly Exception[] = [
  {
    expression: String.raw`/\{\{\s*([\w.-]{1,256})\s*\}\}/g`,
    files: ["plugins/channel-time/template.ts"],
    kind: "trusted",
    why: "templates of the configuration",
  },
  {
    expression: "/0+$/",
    files: ["src/core/journal/usage-report.ts"],
    kind: { bounded: 40 },
    why: "a number with nine decimals",
  },
  {
    expression: String.raw`/\/+$/`,
    files: [
      "plugins/anthropic/index.ts",
      "plugins/channel-a2a/cards.ts",
      "plugins/gemini/request.ts",
      "plugins/ollama/index.ts",
      "plugins/openai-responses/index.ts",
      "plugins/openai/index.ts",
      "plugins/speech/openai.ts",
      "src/client/client.ts",
      "src/library/open.ts",
      "src/telemetry/sdk/exporters.ts",
    ],
    kind: "trusted",
    why: "addresses of the configuration and of the program",
  },
  {
    expression: String.raw`/([?&][^=&#\s]*)=[^&#\s]*/g`,
    files: ["src/host/config/show.ts"],
    kind: "trusted",
    why: "addresses of the configuration",
  },
  {
    expression: String.raw`/\$\{(env|file):([^}]*?)(?::-([^}]*))?\}/g`,
    files: ["src/host/config/substitute.ts"],
    kind: "trusted",
    why: "values of the configuration",
  },
  {
    expression: String.raw`/^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#@]*)([^?]*)(?:\?(.*))?$/`,
    files: ["plugins/postgres/address.ts"],
    kind: "trusted",
    why: "the journal's address in the configuration",
  },
  {
    expression: String.raw`/^# (HELP|TYPE|UNIT) (\S+) ?(.*)$/`,
    files: ["src/host/processes/sum-metrics.ts"],
    kind: "trusted",
    why: "lines that the service's own processes write: names of metrics and of labels it chose",
  },
  {
    expression: String.raw`/\(?((?:file:\/\/)?[^\s()]+):(\d+):(\d+)\)?$/`,
    files: ["src/library/call-site.ts"],
    kind: "trusted",
    why: "one frame of our own stack",
  },
  {
    expression: "/ +$/gm",
    files: ["src/cli/waterfall.ts"],
    kind: "trusted",
    why: "lines of a drawing made at the terminal, as wide as that",
  },
  {
    expression: String.raw`/\n\s+at /`,
    files: ["src/testing/tool.ts"],
    kind: "trusted",
    why: "the contract suite, which a plugin's author runs",
  },
  {
    expression: String.raw`/\.?0+ s$/`,
    files: ["plugins/channel-console/web/components/waterfall.tsx"],
    kind: "trusted",
    why: "a number of seconds that the page has formatted",
  },
  {
    expression: "/^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/",
    files: ["plugins/channel-console/web/text/blocks.ts"],
    kind: "argued",
    why: "anchored; after the backticks the lookahead reads the line once, and a shorter match fails at its first character",
  },
  {
    expression: String.raw`/^(?:00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}|(?!00|ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-.*)?)$/`,
    files: ["src/core/values/trace-context.ts"],
    kind: "argued",
    why: "anchored, and everything but the last `.*` has a fixed width",
  },
  {
    expression:
      "/context.?length|context.?window|maximum context|prompt is too long|input is too long|too many (input )?tokens|exceeds? the (available )?context|input token count .* exceeds/i",
    files: ["src/provider/http/response-error.ts"],
    kind: { bounded: 500 },
    why: "`textOf` cuts what a provider says about an error",
  },
  {
    expression: String.raw`/(?:^|[\s("'«„“])((?:\p{L}\.\s?)+\p{L}+)\.\s*$/u`,
    files: ["src/serve/sentence-ends.ts"],
    kind: { bounded: 61 },
    why: "`goesOn` looks at the last 60 characters",
  },
  {
    expression: String.raw`/(?:^|\n)\s*\d+[.)]\s*$/`,
    files: ["src/serve/sentence-ends.ts"],
    kind: { bounded: 61 },
    why: "`goesOn` looks at the last 60 characters",
  },
  ...[
    String.raw`/!?\[([^\]]*)\]\([^)\s]*\)/g`,
    String.raw`/https?:\/\/(?:www\.)?([^\s/?#]+)[^\s]*?(?=[.!?,;:)]*(?:\s|$))/gi`,
    String.raw`/^\s*(?:#{1,6}|[-*+>])\s+/gm`,
  ].map(
    (expression): Exception => ({
      expression,
      files: ["plugins/speech/speakable.ts"],
      kind: { bounded: 2_000 },
      why: "sentences are cut at 2,000 characters before they are spoken",
    }),
  ),
  ...simulator(
    "arithmetic.ts",
    String.raw`/(\d)\s*(?:percent|%) of (?=\d)/gi`,
    String.raw`/(\d\)?)\s+(?:to the power of|raised to)\s+(?=[\d(])/gi`,
    String.raw`/(\d[)%]?)\s+plus\s+(?=[\d(])/gi`,
    String.raw`/(\d[)%]?)\s+minus\s+(?=[\d(])/gi`,
    String.raw`/(\d[)%]?)\s*(?:times|multiplied by|\bx\b)\s*(?=[\d(])/gi`,
    String.raw`/(\d[)%]?)\s+(?:divided by|over)\s+(?=[\d(])/gi`,
    String.raw`/[\s.+\-*/^(]+$/`,
  ),
  ...simulator("fill.ts", String.raw`/(?<![\p{L}\d-])-?\d+(?:\.\d+)?/gu`),
  ...simulator(
    "finders.ts",
    String.raw`/[\w.+-]+@[\w-]+\.[\w.-]*\w/`,
    "/\"([^\"]+)\"|“([^”]+)”|`([^`]+)`|(?<!\\w)'([^']+)'/",
    String.raw`/(?:\.{0,2}\/)?(?:[\w.-]+\/)+[\w.-]*\w|\b[\w-]+\.[a-z][a-z0-9]{0,5}\b/i`,
    String.raw`/#?\b(?=[\w-]*\d)[\w-]+/`,
    String.raw`/\b(?:for|about|on|of|named|called|that says)\s+(?:the |a |an |my |our )?(.+?)[\s.?!]*$/i`,
  ),
  {
    expression: String.raw`/\s*\S+\s*?(?=\s|$)|\s+$/gu`,
    files: ["plugins/simulator/model/pieces.ts"],
    kind: "argued",
    why: "each match begins where the last one ended, and a word ends at a space or the end, where the lookahead holds at once",
  },
  ...simulator(
    "wanted.ts",
    String.raw`/([.?!;]\s+|\n+|,?\s+(?:and then|then|and also|also|and|plus)\s+(?!\d)|,\s+)/i`,
    String.raw`/^(?:(?:in|for|of) )?(?:[\p{Lu}#][\p{L}\p{N}-]*|\S*\d\S*)(?: [\p{Lu}][\p{L}-]*){0,2}[?.!]*$/u`,
    String.raw`/\b(what|which|tell|current|know|say|give|check)\b.*\b(time|date|day|year|month)\b|\btime is it\b|\btoday'?s date\b|\b(time|date) (now|today|in)\b/i`,
  ),
  ...simulator(
    "zones.ts",
    String.raw`/\b(?:Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Indian|Pacific|Etc)\/\w+(?:\/\w+)?/`,
  ),
];

/** Expressions made at run time, by file: how many, and why none of them takes long. */
export const built: Readonly<Record<string, { readonly count: number; readonly why: string }>> = {
  "src/core/values/exact-json.ts": { count: 1, why: "a fixed text and digits" },
  "src/host/http/long-strings.ts": { count: 1, why: "a fixed text and digits" },
  "src/core/values/redact.ts": { count: 1, why: "a secret of the configuration, escaped: a search for a fixed text" },
  "src/core/values/terminal-text.ts": { count: 2, why: "one character" },
  "src/host/inspect/mask-wire.ts": {
    count: 1,
    why: "a secret of the configuration, escaped: a search for a fixed text",
  },
  "src/provider/fast-json/template.ts": {
    count: 2,
    why: "a fixed name, then spaces: a name is in no run of spaces, so each character is read once",
  },
  "src/serve/sentence-ends.ts": { count: 2, why: "of fixed parts, on the last 60 characters" },
  "src/telemetry/wrappers/redact-pattern.ts": { count: 1, why: "parsed for its message; RE2 matches" },
  "plugins/simulator/scenario.ts": { count: 1, why: "parsed, never matched" },
  "plugins/simulator/scenarios.ts": { count: 2, why: "at most 4,096 characters of a prompt, 256 of a name" },
  "plugins/simulator/model/arithmetic.ts": { count: 3, why: "at most 4,096 characters" },
  "plugins/simulator/model/fill.ts": { count: 1, why: "at most 4,096 characters" },
};
