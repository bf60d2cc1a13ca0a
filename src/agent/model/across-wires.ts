import type { OpaquePart } from "../../core/model/messages.ts";
import type { Native } from "../../core/model/native.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Translates a client's field into another wire format; undefined when that format has no equivalent for this value. */
type Translate = (value: unknown) => Record<string, unknown> | undefined;
type Table = Readonly<Record<string, Translate>>;

const chat = "openai-chat";
const responses = "openai-responses";
const messages = "anthropic-messages";

const named =
  (name: string): Translate =>
  (value) => ({ [name]: value });
const same = (...names: string[]): Table => Object.fromEntries(names.map((name) => [name, named(name)]));
const oneOf =
  (name: string, values: Readonly<Record<string, string>>): Translate =>
  (value) => {
    const other = typeof value === "string" && Object.hasOwn(values, value) ? values[value] : undefined;
    return other === undefined ? undefined : { [name]: other };
  };
const record = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {}); // Missing keys read as undefined.

/** Translates an object only if it has no other field. */
const only =
  (field: string, then: Translate): Translate =>
  (value) => {
    const keys = Object.keys(record(value));
    return keys.length === 1 && keys[0] === field ? then(record(value)[field]) : undefined;
  };

const outputLogprobs = "message.output_text.logprobs";
const shared = same(
  "metadata",
  "parallel_tool_calls",
  "prompt_cache_options",
  "prompt_cache_retention",
  "safety_identifier",
  "service_tier",
  "user",
);
const userId: Translate = (value) => ({ metadata: { user_id: value } });
const toMessages: Table = {
  metadata: only("user_id", userId),
  safety_identifier: userId,
  service_tier: oneOf("service_tier", { auto: "auto", default: "standard_only" }),
  user: userId,
  parallel_tool_calls: (value) => (value === false ? { [notParallel]: true } : {}),
};
const fromMessages: Table = {
  metadata: only("user_id", named("safety_identifier")),
  service_tier: oneOf("service_tier", { auto: "auto", standard_only: "default" }),
};

/** Anthropic's way to disable parallel tool calls: a field of `tool_choice`. */
const notParallel = "tool_choice.disable_parallel_tool_use";

const body: Readonly<Record<string, Table>> = {
  [`${chat}>${responses}`]: {
    ...shared,
    logprobs: (value) => (value === true ? { include: [outputLogprobs] } : {}),
    top_logprobs: named("top_logprobs"),
    verbosity: (verbosity) => ({ text: { verbosity } }),
  },
  [`${responses}>${chat}`]: {
    ...shared,
    include: (value) =>
      Array.isArray(value) && value.every((each) => each === outputLogprobs || each === "reasoning.encrypted_content")
        ? { ...(value.includes(outputLogprobs) && { logprobs: true }) }
        : undefined,
    text: (value) => {
      // The output format is part of the run, so it is not passed on as a native field.
      const { format: _, verbosity, ...styles } = record(value);
      return Object.keys(styles).length > 0 ? undefined : { ...(verbosity !== undefined && { verbosity }) };
    },
    top_logprobs: (value) => ({ logprobs: true, top_logprobs: value }),
  },
  [`${chat}>${messages}`]: toMessages,
  [`${responses}>${messages}`]: toMessages,
  [`${messages}>${chat}`]: fromMessages,
  [`${messages}>${responses}`]: fromMessages,
};

/** Translations for fields of tools, output formats and message parts. */
const elements: Readonly<Record<string, Table>> = {
  [`${chat}>${responses}`]: {
    "function.strict": named("strict"),
    "json_schema.strict": named("strict"),
    "json_schema.description": named("description"),
    "image_url.detail": named("detail"),
  },
  [`${responses}>${chat}`]: {
    "tools.strict": named("function.strict"),
    "response_format.strict": named("json_schema.strict"),
    "response_format.description": named("json_schema.description"),
    detail: named("image_url.detail"),
  },
  // Anthropic always enforces a format's schema.
  [`${chat}>${messages}`]: { "function.strict": named("strict"), "json_schema.strict": () => ({}) },
  [`${responses}>${messages}`]: { "tools.strict": named("strict"), "response_format.strict": () => ({}) },
  [`${messages}>${chat}`]: { "tools.strict": named("function.strict") },
  [`${messages}>${responses}`]: { "tools.strict": named("strict") },
};

export interface Translated {
  readonly fields: Record<string, unknown>;
  /** The client's name for each of the fields. */
  readonly names: ReadonlyMap<string, string>;
  /** The client's fields without an equivalent. */
  readonly left: readonly string[];
}

/** Translates the client's body fields into another wire format. Includes metadata: the run keeps it, but the vendor may not accept it. */
export const bodyAcross = (native: Native, to: string | undefined): Translated =>
  across(native, body[`${native.wire}>${to}`] ?? {}, "");

/** The same for a tool, an output format or a message part; `at` is its path in the request. */
export const elementAcross = (native: Native, to: string | undefined, at: string): Translated =>
  across(native, elements[`${native.wire}>${to}`] ?? {}, at);

function across({ fields: given, translated = [], unsent = [] }: Native, table: Table, at: string): Translated {
  const fields: Record<string, unknown> = {};
  const names = new Map<string, string>();
  const left: string[] = [...unsent];
  for (const [name, value] of Object.entries(given)) {
    const translate = Object.hasOwn(table, at + name)
      ? table[at + name]
      : Object.hasOwn(table, name)
        ? table[name]
        : undefined;
    const other = isEmpty(value) ? {} : translate?.(value);
    for (const [target, each] of Object.entries(other ?? {})) {
      fields[target] = joined(fields[target], each);
      names.set(target, name);
    }
    const isKnown = translated.includes(name) && (name !== "metadata" || at !== "");
    if (other === undefined && !isKnown) left.push(name);
  }
  return { fields, names, left };
}

const isEmpty = (value: unknown): boolean =>
  value === null || (typeof value === "object" && Object.keys(value as object).length === 0);

const joined = (one: unknown, other: unknown): unknown =>
  Array.isArray(one) && Array.isArray(other) ? [...new Set([...one, ...other])] : other;

/** The `tool_choice` that disables parallel calls, for wire formats where that is part of the choice. */
export function choiceAcross(translated: Translated): { fields: Record<string, unknown>; choice?: Native["fields"] } {
  const { [notParallel]: single, ...fields } = translated.fields;
  return single === undefined ? { fields } : { fields, choice: { [notParallel]: single } };
}

/** The same choice as a field of the request body. */
export const fieldsOfChoice = (choice: Native | undefined, to: string | undefined): Fields =>
  choice?.wire === messages && (to === chat || to === responses) && choice.fields[notParallel] === true
    ? { parallel_tool_calls: false }
    : {};

export const singleCalls = notParallel;

/** Converts an opaque part that another wire format also supports: a file by id, which both OpenAI formats accept. */
export function partAcross({ wire, data }: OpaquePart, to: string | undefined): OpaquePart | undefined {
  const { type, file, file_id } = record(data);
  const id = record(file).file_id;
  if (wire === chat && to === responses && type === "file" && typeof id === "string") {
    return { type: "opaque", wire: responses, data: { type: "input_file", file_id: id } };
  }
  if (wire === responses && to === chat && type === "input_file" && typeof file_id === "string") {
    return { type: "opaque", wire: chat, data: { type: "file", file: { file_id } } };
  }
  return undefined;
}

/** Whether the wire format can mark a tool result as an error; otherwise its text has to say so. */
export const marksErrors = (wire: string | undefined): boolean => wire !== chat && wire !== responses;
