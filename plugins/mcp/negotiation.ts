import type { Client, ClientOptions, OAuthClientProvider, Transport } from "@modelcontextprotocol/client";
import { elicited, sampled } from "./elicitation.ts";
import { LastLines } from "./last-lines.ts";
import type { McpOptions } from "./options.ts";
import { TaskWire, tasksExtension } from "./task-wire.ts";
import { openTransport } from "./transport.ts";

/**
 * Connects clients in the newest revision that the server speaks: stateless since 2026-07-28, with a handshake before it. The
 * library asks `server/discover` first; a server that knows it not gets `initialize` on the same connection.
 */
export class Negotiation {
  readonly #options: McpOptions;
  readonly #folder: string;
  readonly #onChanged: () => void;
  /** The last connection was of an older revision: restarts go without the question. */
  #isLegacy = false;

  constructor(options: McpOptions, folder: string, onChanged: () => void) {
    this.#options = options;
    this.#folder = folder;
    this.#onChanged = onChanged;
  }

  /** What the server wrote to its stderr. */
  readonly lines = new LastLines();

  async connect(credentials?: OAuthClientProvider): Promise<Client> {
    const { protocol, command } = this.#options;
    const wasLegacy = this.#isLegacy;
    this.#isLegacy = false; // until it has worked again: the server may have been updated
    try {
      return await this.#open(wasLegacy ? "legacy" : modeOf(protocol), credentials);
    } catch (thrown) {
      // Some servers exit at a request before `initialize`. Their process is gone, so the second one is no duplicate.
      if (command === undefined || protocol !== "auto" || wasLegacy || !isNegotiationFailure(thrown)) throw thrown;
      return await this.#open("legacy", credentials);
    }
  }

  transport(credentials?: OAuthClientProvider): Promise<Transport> {
    return openTransport(this.#options, { folder: this.#folder, lines: this.lines }, credentials);
  }

  async #open(mode: Mode, credentials: OAuthClientProvider | undefined): Promise<Client> {
    const { Client } = await import("@modelcontextprotocol/client");
    const { connectTimeout: timeout, command, elicitation, sampling, tasks } = this.#options;
    // A stdio server that ignores unknown requests is asked for half of the time, then gets `initialize`.
    const probe = command === undefined ? {} : { probe: { timeoutMs: timeout / 2 } };
    const info = { name: "venturi", version: "0.1.0" };
    const capabilities = {
      ...(elicitation ? { elicitation: { form: {}, url: {} } } : {}),
      ...(sampling === undefined ? {} : { sampling: {} }),
      ...(tasks ? { extensions: { [tasksExtension]: {} } } : {}),
    };
    const client = new Client(info, {
      versionNegotiation: { mode, ...probe },
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => this.#onChanged() } },
      listMaxPages: 100,
      jsonSchemaValidator: trusting,
      capabilities,
    });
    if (elicitation) client.setRequestHandler("elicitation/create", ({ params }) => elicited(client, params));
    if (sampling !== undefined) {
      client.setRequestHandler("sampling/createMessage", ({ params }) => sampled(client, params));
    }
    try {
      const transport = await this.transport(credentials);
      if (tasks) {
        const { CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY } = await import(
          "@modelcontextprotocol/client"
        );
        const meta = {
          [PROTOCOL_VERSION_META_KEY]: "2026-07-28",
          [CLIENT_CAPABILITIES_META_KEY]: capabilities,
          [CLIENT_INFO_META_KEY]: info,
        };
        new TaskWire(transport, meta).serve(client);
      }
      await client.connect(transport, { timeout });
    } catch (thrown) {
      await client.close().catch(() => {}); // report the first failure
      throw thrown;
    }
    this.#isLegacy = client.getProtocolEra() === "legacy";
    return client;
  }
}

type Mode = NonNullable<NonNullable<ClientOptions["versionNegotiation"]>["mode"]>;

const modeOf = (protocol: McpOptions["protocol"]): Mode => {
  if (protocol === "2025-11-25") return "legacy";
  return protocol === "auto" ? "auto" : { pin: protocol };
};

const isNegotiationFailure = (thrown: unknown): boolean =>
  thrown instanceof Error && "code" in thrown && thrown.code === "ERA_NEGOTIATION_FAILED";

/**
 * The library would compile a server's output schemas to code, whose patterns backtrack for as long as the server likes. Models
 * get results as text, whatever their schema.
 */
const trusting: NonNullable<ClientOptions["jsonSchemaValidator"]> = {
  getValidator: () => (value) => ({ valid: true, data: value as never, errorMessage: undefined }),
};
