import { messageOf } from "../core/errors/errors.ts";

interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: {
    readonly requestId?: string | number;
    readonly name?: unknown;
    readonly uri?: unknown;
    readonly taskId?: unknown;
    readonly _meta?: Readonly<Record<string, unknown>>;
  };
}

const versionKey = "io.modelcontextprotocol/protocolVersion";

/**
 * MCP over stdio, forwarded as stateless HTTP requests: what HTTP has in headers is in the messages. So both transports share one server.
 */
export class StdioBridge {
  readonly #send: (request: Request) => Promise<Response>;
  readonly #url: string;
  readonly #write: (line: string) => void;
  readonly #open = new Map<string | number, AbortController>();
  /** All exchanges in progress: requests, notifications and answers. */
  readonly #exchanges = new Map<AbortController, Promise<void>>();
  #session: string | undefined;

  constructor(
    send: (request: Request) => Promise<Response>,
    { url, write }: { readonly url: string; readonly write: (line: string) => void },
  ) {
    this.#send = send;
    this.#url = url;
    this.#write = write;
  }

  take(line: string): void {
    if (line.trim() === "") return;
    const message = parsed(line);
    if (message === undefined) return this.#fail(null, -32700, "this line is no JSON");
    const { requestId } = message.params ?? {};
    // Before protocol version 2026-07-28 disconnecting does not cancel, so the notification is forwarded too.
    if (message.method === "notifications/cancelled" && requestId !== undefined) this.#open.get(requestId)?.abort();
    const controller = new AbortController();
    const exchange = this.#exchange(line, message, controller).finally(() => this.#exchanges.delete(controller));
    this.#exchanges.set(controller, exchange);
  }

  /** Input has ended: what is in progress may finish within `grace`, then is cancelled. */
  async end(grace: number): Promise<void> {
    const timer = setTimeout(() => {
      for (const controller of this.#exchanges.keys()) controller.abort();
    }, grace);
    await Promise.allSettled(this.#exchanges.values());
    clearTimeout(timer);
  }

  async #exchange(line: string, message: Message, controller: AbortController): Promise<void> {
    const { id } = message;
    const isRequest = id !== undefined && message.method !== undefined;
    if (isRequest) this.#open.set(id, controller);
    try {
      const response = await this.#send(
        new Request(this.#url, {
          method: "POST",
          headers: this.#headers(message),
          body: line,
          signal: controller.signal,
        }),
      );
      this.#session = response.headers.get("mcp-session-id") ?? this.#session;
      const answered = await this.#copy(response);
      if (isRequest && !answered) this.#fail(id, -32603, `the service answered ${response.status}`);
    } catch (thrown) {
      if (isRequest && !controller.signal.aborted) this.#fail(id, -32603, messageOf(thrown));
    } finally {
      if (isRequest && this.#open.get(id) === controller) this.#open.delete(id);
    }
  }

  #headers({ method, params }: Message): Record<string, string> {
    const version = params?._meta?.[versionKey];
    const name = params?.name ?? params?.uri ?? params?.taskId;
    return {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(this.#session === undefined ? {} : { "mcp-session-id": this.#session }),
      ...(typeof version === "string" ? { "mcp-protocol-version": version, "mcp-method": method ?? "" } : {}),
      ...(typeof version === "string" && typeof name === "string" ? { "mcp-name": headerText(name) } : {}),
    };
  }

  /** Returns whether it contained a message. */
  async #copy(response: Response): Promise<boolean> {
    if (!(response.headers.get("content-type") ?? "").startsWith("text/event-stream")) {
      const text = (await response.text()).trim();
      if (parsed(text)?.id === undefined && !text.includes('"jsonrpc"')) return false;
      this.#write(text);
      return true;
    }
    let rest = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.startsWith("data: {")) this.#write(line.slice("data: ".length));
    }
    return true;
  }

  #fail(id: string | number | null, code: number, message: string): void {
    this.#write(JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } }));
  }
}

function parsed(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Message) : undefined; // The server validates it.
  } catch {
    return undefined;
  }
}

/** A header may contain visible ASCII only. */
const headerText = (text: string): string =>
  /^[\x21-\x7e]+$/.test(text) && !text.startsWith("=?") ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
