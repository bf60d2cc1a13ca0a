import { ClientError } from "./client-error.ts";
import { keyOf, type Settings } from "./requests.ts";

/** Messages of the service that the client handles; `id` is the subscription's. */
interface Message {
  readonly type?: string;
  readonly id?: string;
  readonly events?: readonly unknown[];
  readonly items?: readonly unknown[];
  readonly error?: { readonly op: string; readonly code: string; readonly err: string };
}

/** What is used of a WebSocket; browsers, Node and the package `ws` all provide it. */
interface Socket {
  readonly readyState: number;
  send(text: string): void;
  close(): void;
  addEventListener(type: "open" | "close" | "error", listener: () => void): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
}
export type SocketClass = new (url: string, protocols: string[]) => Socket;

/** What has arrived for one reader of the socket. */
interface Mailbox {
  readonly name: string;
  take(items: readonly unknown[]): void;
  end(error: ClientError): void;
}

export interface Subscription {
  /** The service sends each subscription once per socket. */
  readonly name: string;
  readonly open: object;
  readonly close: object;
  readonly signal?: AbortSignal | undefined;
  readonly opened: () => void;
}

/** Maximum items queued for one reader. Past this the subscription is dropped; it resumes when the reader has caught up. */
const mostWaiting = 4096;

/**
 * One WebSocket for all followed runs: opened by the first reader, closed after the last. It does not reconnect by itself: when it breaks,
 * each reader resumes from its own position, which opens a new one.
 */
export class LiveSocket {
  readonly #settings: Settings;
  readonly #WebSocket: SocketClass;
  readonly #path: string;
  readonly #mailboxes = new Map<string, Mailbox>();
  #opening: Promise<Socket> | undefined;
  #quiet: ReturnType<typeof setTimeout> | undefined;
  #count = 0;

  constructor(settings: Settings, socket: SocketClass, path: string) {
    this.#settings = settings;
    this.#WebSocket = socket;
    this.#path = path;
  }

  get isOpen(): boolean {
    return this.#opening !== undefined;
  }

  has(name: string): boolean {
    return [...this.#mailboxes.values()].some((mailbox) => mailbox.name === name);
  }

  /** Yields the subscription's items as they arrive, until the socket breaks. */
  async *read<Item>(subscription: Subscription): AsyncGenerator<readonly Item[], void, undefined> {
    const { name, signal } = subscription;
    // A unique name per subscription, so that late messages of an earlier one are not mistaken for this one's.
    const id = `${name}#${++this.#count}`;
    let waiting: Item[] = [];
    let failure: ClientError | undefined;
    let wake = (): void => {};
    const leave = (error: ClientError): void => {
      failure ??= error;
      if (this.#mailboxes.delete(id)) void this.#send(subscription.close);
    };
    this.#mailboxes.set(id, {
      name,
      take: (items) => {
        for (const item of items) waiting.push(item as Item); // Typed by the service's schema.
        if (waiting.length > mostWaiting) leave(broken("the reader is slower than the socket"));
        wake();
      },
      end: (error) => {
        failure ??= error;
        wake();
      },
    });
    const stop = (): void => wake();
    signal?.addEventListener("abort", stop, { once: true });
    try {
      await this.#open();
      void this.#send({ ...subscription.open, id });
      subscription.opened();
      for (;;) {
        signal?.throwIfAborted();
        if (waiting.length > 0) {
          const batch = waiting;
          waiting = [];
          yield batch;
          continue;
        }
        if (failure !== undefined) throw failure;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      signal?.removeEventListener("abort", stop);
      leave(broken("the reader left"));
      if (this.#mailboxes.size === 0) this.close();
    }
  }

  close(): void {
    const opening = this.#opening;
    this.#drop(opening);
    opening?.then((socket) => socket.close()).catch(() => {});
  }

  async #send(command: object): Promise<void> {
    const socket = await this.#opening?.catch(() => undefined);
    if (socket?.readyState === 1) socket.send(JSON.stringify(command));
  }

  #open(): Promise<Socket> {
    this.#opening ??= this.#connect();
    return this.#opening;
  }

  async #connect(): Promise<Socket> {
    const key = await keyOf(this.#settings);
    const { location } = globalThis as { location?: { href: string } }; // Only browsers have it.
    const url = new URL(this.#settings.url + this.#path, location?.href);
    url.protocol = url.protocol.replace("http", "ws");
    // Browsers cannot set headers on a socket, so the key is sent as a subprotocol.
    const socket = new this.#WebSocket(url.href, key === undefined ? ["venturi"] : ["venturi", `bearer.${key}`]);
    const opening = this.#opening;
    return await new Promise((resolve, reject) => {
      const broke = (): void => {
        reject(broken("the socket was closed"));
        this.#drop(opening);
        socket.close();
      };
      socket.addEventListener("open", () => resolve(socket));
      socket.addEventListener("close", broke);
      socket.addEventListener("error", broke);
      socket.addEventListener("message", ({ data }) => {
        this.#watch(socket, broke);
        this.#receive(JSON.parse(String(data)) as Message); // Typed by the service's schema.
      });
      this.#watch(socket, broke);
    });
  }

  /** Pings a quiet socket, then gives it up: a dead network closes nothing. */
  #watch(socket: Socket, broke: () => void): void {
    const half = this.#settings.idle / 2;
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => {
      if (socket.readyState === 1) socket.send('{"type":"ping"}');
      this.#quiet = setTimeout(broke, half);
    }, half);
  }

  #receive({ type, id = "", events, items = events, error }: Message): void {
    const mailbox = this.#mailboxes.get(id);
    if (items !== undefined) mailbox?.take(items);
    if (type !== "stream_error" || error === undefined) return;
    // The service has not noticed yet that an earlier subscription of this run ended.
    const code = error.code === "conflict" ? "unavailable" : error.code;
    mailbox?.end(new ClientError({ ...error, code }));
  }

  /** Only for the socket in use: a late `close` of an earlier one changes nothing. */
  #drop(opening: Promise<Socket> | undefined): void {
    if (this.#opening !== opening) return;
    clearTimeout(this.#quiet);
    this.#opening = undefined;
    for (const mailbox of [...this.#mailboxes.values()]) mailbox.end(broken("the socket was closed"));
  }
}

const broken = (err: string): ClientError => new ClientError({ op: "run.follow", code: "stream_error", err });
