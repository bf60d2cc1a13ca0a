import { createHash } from "node:crypto";
import type { Client, ElicitRequestParams, ElicitResult } from "@modelcontextprotocol/client";
import type { ToolContext } from "venturi/plugin";

/** Calls under way, by the client they go through. */
const calls = new WeakMap<Client, Set<Questions>>();

/** Questions of a server during one call: each is one of the run, to a person. */
export class Questions {
  readonly run: string;
  readonly #context: ToolContext;
  readonly #server: string;
  readonly #asked = new Map<string, number>();

  constructor(context: ToolContext, server: string) {
    this.run = context.run;
    this.#context = context;
    this.#server = server;
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
    const isUrl = params.mode === "url";
    const given = isUrl ? { url: params.url } : defaultsOf(params);
    const verdict = await this.#context.ask({
      id: this.#idOf(params),
      name: isUrl ? "open_url" : "question",
      arguments: given,
      reason: `The server "${this.#server}" asks: ${params.message}`.slice(0, 4_000),
    });
    if (!verdict.approved) return { action: verdict.by === undefined ? "cancel" : "decline" };
    if (isUrl) return { action: "accept" };
    return { action: "accept", content: contentOf(params, verdict.arguments ?? given) };
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
 * A question that a server of an older revision sends on its own. It does not say which call it is about: with calls of two runs
 * under way it is dismissed, since the wrong person would be asked.
 */
export async function elicited(client: Client, params: ElicitRequestParams): Promise<ElicitResult> {
  const known = [...(calls.get(client) ?? [])];
  const [first] = known;
  if (first === undefined || known.some(({ run }) => run !== first.run)) return { action: "cancel" };
  return await first.ask(params);
}

type Form = Exclude<ElicitRequestParams, { mode: "url" }>;
type Content = NonNullable<ElicitResult["content"]>;

const propertiesOf = ({ requestedSchema }: Form): [string, { type?: string; default?: unknown }][] =>
  Object.entries(requestedSchema.properties);

function defaultsOf(form: Form): Record<string, unknown> {
  const shown = propertiesOf(form).map(([name, schema]) => [name, schema.default ?? null]);
  return Object.fromEntries(shown);
}

/** What the form has a place for, with its defaults where the person left one empty. */
function contentOf(form: Form, given: Readonly<Record<string, unknown>>): Content {
  const filled = propertiesOf(form).map(([name, schema]) => [name, given[name] ?? schema.default] as const);
  return Object.fromEntries(filled.filter(([, value]) => value !== undefined && value !== null)) as Content; // the server checks it
}
