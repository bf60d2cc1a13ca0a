import { createHash, timingSafeEqual } from "node:crypto";
import type { Client } from "@modelcontextprotocol/client";
import { Journal, type PluginContext, type ToolContext, VenturiError } from "venturi/plugin";
import type { Negotiation } from "../negotiation.ts";
import type { McpOptions } from "../options.ts";
import { UserCredentials } from "./provider.ts";
import { forgetState, noteState, Sealed } from "./sealed.ts";

const op = "tool.call";
/** Maximum open clients; the least recently used is closed. */
const mostClients = 64;
/** Sign-ins allowed per call: the first, and one for a wider scope. A server that wants more gets none. */
const mostSignIns = 2;

/** The server's users, each with a client and credentials of its own. Users without credentials are asked to sign in. */
export class Users {
  readonly #options: McpOptions;
  readonly #context: PluginContext;
  readonly #negotiation: Negotiation;
  readonly #clients = new Map<string, Client>();
  #sealed: Sealed | undefined;

  constructor(options: McpOptions, context: PluginContext, negotiation: Negotiation) {
    this.#options = options;
    this.#context = context;
    this.#negotiation = negotiation;
  }

  /** Runs `work` with the client of the call's user. Nothing reaches the server's tools before the user has signed in. */
  async use<T>(context: ToolContext, work: (client: Client) => Promise<T>): Promise<T> {
    const user = this.#nameOf(context);
    const credentials = this.#credentials(user);
    for (let signIns = 0; ; signIns++) {
      try {
        await this.#resume(context, credentials, signIns);
        return await work(await this.#client(user, credentials));
      } catch (thrown) {
        this.#drop(user);
        if (!isUnauthorized(thrown) || signIns >= mostSignIns) throw thrown;
        if ((await credentials.pending()) === undefined) throw thrown;
      }
    }
  }

  async close(): Promise<void> {
    const clients = [...this.#clients.values()];
    this.#clients.clear();
    await Promise.allSettled(clients.map((client) => client.close()));
  }

  /** First finishes a sign-in begun by this call, perhaps before a restart. */
  async #resume(context: ToolContext, credentials: UserCredentials, signIns: number): Promise<void> {
    const pending = await credentials.pending();
    if (pending === undefined) return;
    const { name } = this.#context;
    const id = `sign-in-${signIns}`;
    const hash = createHash("sha256").update(pending.state).digest("hex");
    const values = this.#context.resolve(Journal).keyValues;
    if (values !== undefined) await noteState(values, hash, { run: context.run, call: `${context.call}.${id}` });
    try {
      const verdict = await context.ask({
        kind: "elicit",
        id,
        name: "sign_in",
        message: `Sign in to "${name}": open the address. Where that does not answer this question, give the address you were sent back to.`,
        url: pending.url,
        schema: redirectSchema,
      });
      if (!verdict.approved) throw new VenturiError(op, "tool_denied", verdict.reason ?? "nobody signed in");
      await this.#finish(credentials, pending.state, redirectOf(verdict.answer));
    } finally {
      if (!context.signal.aborted) await credentials.forgetPending();
      if (values !== undefined && !context.signal.aborted) await forgetState(values, hash);
    }
  }

  async #finish(credentials: UserCredentials, state: string, redirect: unknown): Promise<void> {
    const answer = typeof redirect === "string" && URL.canParse(redirect) ? new URL(redirect).searchParams : undefined;
    if (answer === undefined)
      throw new VenturiError(op, "tool_denied", "the answer has no redirect, so nobody signed in");
    const given = Buffer.from(answer.get("state") ?? "");
    const wanted = Buffer.from(state);
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
      throw new VenturiError(op, "tool_denied", "the answer belongs to another sign-in");
    }
    const transport = await this.#negotiation.transport(credentials);
    try {
      await (transport as unknown as { finishAuth(answer: URLSearchParams): Promise<void> }).finishAuth(answer); // The transport uses HTTP.
    } catch (thrown) {
      throw new VenturiError(
        op,
        "tool_denied",
        `signing in failed: ${thrown instanceof Error ? thrown.message : thrown}`,
      );
    } finally {
      await transport.close();
    }
  }

  async #client(user: string, credentials: UserCredentials): Promise<Client> {
    const known = this.#clients.get(user);
    this.#clients.delete(user);
    const client = known ?? (await this.#negotiation.connect(credentials));
    this.#clients.set(user, client); // Moves it to the most recently used position.
    const [oldest] = this.#clients.keys();
    if (this.#clients.size > mostClients && oldest !== undefined) this.#drop(oldest);
    return client;
  }

  #drop(user: string): void {
    const client = this.#clients.get(user);
    this.#clients.delete(user);
    void client?.close().catch(() => {}); // No longer usable.
  }

  #credentials(user: string): UserCredentials {
    const { auth } = this.#options;
    const values = this.#context.resolve(Journal).keyValues;
    if (auth === undefined || values === undefined) {
      throw new VenturiError(op, "unavailable", "this journal keeps no credentials");
    }
    this.#sealed ??= new Sealed(values, auth.secret ?? "");
    return new UserCredentials(this.#sealed, user, auth);
  }

  #nameOf({ tenant, caller = "" }: ToolContext): string {
    const { per } = this.#options.auth ?? {};
    const who = per === "service" ? [] : per === "tenant" ? [tenant] : [tenant, caller];
    const text = JSON.stringify([this.#options.url, this.#context.name, ...who]);
    return `user/${createHash("sha256").update(text).digest("hex")}`;
  }
}

const redirectSchema = {
  type: "object",
  properties: { redirect: { type: "string", title: "Address", format: "uri" } },
  required: ["redirect"],
};

const redirectOf = (answer: unknown): unknown =>
  typeof answer === "object" && answer !== null && "redirect" in answer ? answer.redirect : undefined;

const isUnauthorized = (thrown: unknown): boolean => {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    if (error.name === "UnauthorizedError" || error.name === "InsufficientScopeError") return true;
  }
  return false;
};
