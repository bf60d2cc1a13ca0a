import { createHash } from "node:crypto";
import type {
  Client,
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestParams,
  ElicitResult,
} from "@modelcontextprotocol/client";
import type { ToolContext } from "venturi/plugin";
import type { Sampler } from "./sampling.ts";

/** Calls under way, by the client they go through. */
const calls = new WeakMap<Client, Set<Questions>>();

/** Questions of a server during one call: each is one of the run, to a person. */
export class Questions {
  readonly run: string;
  /** Answers the server's requests for a model, where it may make some. */
  readonly sampler: Sampler | undefined;
  readonly #context: ToolContext;
  readonly #server: string;
  readonly #name: string;
  readonly #asked = new Map<string, number>();

  constructor(
    context: ToolContext,
    of: { readonly server: string; readonly name: string; readonly sampler?: Sampler | undefined },
  ) {
    const { server, name } = of;
    this.run = context.run;
    this.sampler = of.sampler;
    this.#context = context;
    this.#server = server;
    this.#name = name;
  }

  /** Registers the call, so that questions that arrive beside it find it. */
  async during<T>(client: Client, work: () => Promise<T>): Promise<T> {
    const known = calls.get(client) ?? new Set();
    calls.set(client, known.add(this));
    try {
      return await work();
    } finally {
      known.delete(this);
    }
  }

  async ask(params: ElicitRequestParams): Promise<ElicitResult> {
    const question = {
      kind: "elicit" as const,
      id: this.#idOf(params),
      name: this.#name,
      message: `The server "${this.#server}" asks: ${params.message}`.slice(0, 4_000),
    };
    const isUrl = params.mode === "url";
    const more = isUrl ? { url: params.url, choices: [done] } : { schema: { ...params.requestedSchema } };
    const { approved, answer, by } = await this.#context.ask({ ...question, ...more });
    if (!approved) return { action: by === undefined ? "cancel" : "decline" };
    return isUrl ? { action: "accept" } : { action: "accept", content: contentOf(params, answer) };
  }

  /** The same after a restart, when the server asks the same again in the same order. */
  #idOf(params: ElicitRequestParams): string {
    const hash = createHash("sha256").update(JSON.stringify(params)).digest("hex").slice(0, 12);
    const times = (this.#asked.get(hash) ?? 0) + 1;
    this.#asked.set(hash, times);
    return `${hash}-${times}`;
  }
}

/**
 * The call that a request of an older server, sent on its own, is about. It does not say: with calls of two runs under way it is
 * about none, since the wrong person would be asked, or the wrong budget charged.
 */
function callOf(client: Client): Questions | undefined {
  const known = [...(calls.get(client) ?? [])];
  const [first] = known;
  return known.some(({ run }) => run !== first?.run) ? undefined : first;
}

export const elicited = async (client: Client, params: ElicitRequestParams): Promise<ElicitResult> =>
  (await callOf(client)?.ask(params)) ?? { action: "cancel" };

export async function sampled(client: Client, params: CreateMessageRequestParams): Promise<CreateMessageResult> {
  const sampler = callOf(client)?.sampler;
  if (sampler === undefined) throw new Error("it is not clear which call this is about");
  return await sampler.sample(params);
}

/** Answer of a person who did what a page asked for. */
const done = "done";

type Form = Exclude<ElicitRequestParams, { mode: "url" }>;
type Content = NonNullable<ElicitResult["content"]>;

/** What the form has a place for, with its defaults where the person left one empty. */
function contentOf({ requestedSchema }: Form, answer: unknown): Content {
  const given = typeof answer === "object" && answer !== null ? (answer as Record<string, unknown>) : {};
  const fields: [string, { default?: unknown }][] = Object.entries(requestedSchema.properties);
  const filled = fields.map(([name, schema]) => [name, given[name] ?? schema.default] as const);
  return Object.fromEntries(filled.filter(([, value]) => value !== undefined && value !== null)) as Content; // the server checks it
}
