import type { OpaquePart } from "../../core/model/messages.ts";
import type { Native } from "../../core/model/native.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What a client's field is in another wire's words; undefined when that wire has none for this value. */
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
const record = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {}); // any key may be read

/** An object of nothing but this field. */
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

/** A field of Anthropic's choice of tools, which says whether a model may call several at once. */
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
      // The format is the run's own.
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

/** Tools, formats and parts. */
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
  // A format with a schema is always strict there.
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

/** The client's fields of the body in the words of another wire. Metadata is judged here: the run keeps it, the vendor may not get it. */
export const bodyAcross = (native: Native, to: string | undefined): Translated =>
  across(native, body[`${native.wire}>${to}`] ?? {}, "");

/** The same for a tool, a format or a part; `at` is where it stands. */
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

/** The choice of tools with which a model calls one at a time, on wires where that is part of it. */
export function choiceAcross(translated: Translated): { fields: Record<string, unknown>; choice?: Native["fields"] } {
  const { [notParallel]: single, ...fields } = translated.fields;
  return single === undefined ? { fields } : { fields, choice: { [notParallel]: single } };
}

/** That choice as a field of the body. */
export const fieldsOfChoice = (choice: Native | undefined, to: string | undefined): Fields =>
  choice?.wire === messages && (to === chat || to === responses) && choice.fields[notParallel] === true
    ? { parallel_tool_calls: false }
    : {};

export const singleCalls = notParallel;

/** A part that another wire has in another form: a file by the id of its vendor, which both of OpenAI's wires take. */
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

/** Whether results have a field that says they are errors; elsewhere their text has to say so. */
export const marksErrors = (wire: string | undefined): boolean => wire !== chat && wire !== responses;
