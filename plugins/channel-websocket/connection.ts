import type { Socket } from "node:net";
import { callRequest, StallWatch, traceHeadersOf, wrap } from "venturi/internal";
import { type ChannelHost, type Charge, type FeedItem, type RunEvent, type Runs, VenturiError } from "venturi/plugin";
import type { FastifyInstance, FastifyRequest } from "venturi/plugin/channel";
import type { WebSocket } from "ws";
import { Arriving } from "./arriving.ts";
import { mustArrive, mustFit, op, publicError } from "./checks.ts";
import { approvalOf, type Command, idIn, parseCommand, parseMessage } from "./commands.ts";
import { Inbox } from "./inbox.ts";
import { KeepAlive } from "./keep-alive.ts";
import type { Options } from "./options.ts";
import { Projection } from "./projection.ts";
import { Speech } from "./speech.ts";
import { Verbatim } from "./verbatim.ts";

/** How long a refused peer may take to close, ms. */
const closing = 1_000;

export interface Deps {
  readonly host: ChannelHost<FastifyInstance>;
  readonly request: FastifyRequest;
  readonly options: Options;
}

interface Following {
  readonly run: string;
  readonly after: number;
  readonly as: "messages" | "events";
  readonly sentences: boolean;
  readonly speech: boolean;
  readonly id?: string | undefined;
}

/**
 * One socket and the runs it follows. Buffers at most `slowReader` bytes for it over all its runs. Past that, neither its runs
 * nor its messages are read until it drains; if it consumes nothing for `stalled` ms it is disconnected.
 */
export class Connection {
  readonly #socket: WebSocket;
  readonly #transport: Socket;
  readonly #deps: Deps;
  readonly #runs: Runs;
  readonly #following = new Map<string, AbortController>();
  readonly #started = new Set<string>();
  readonly #keepAlive: KeepAlive;
  readonly #speech: Speech;
  readonly #stall: StallWatch;
  readonly #inbox: Inbox;
  #feed: AbortController | undefined;
  #closed = false;

  constructor(socket: WebSocket, deps: Deps) {
    this.#socket = socket;
    this.#deps = deps;
    this.#runs = deps.host.runsFor(deps.request);
    this.#speech = new Speech(deps.options.voice, {
      message: (message) => this.#send(message),
      audio: (frame) => this.#sendFrame(frame),
      warn: (message, fields) => deps.host.log.warn(message, fields),
    });
    const { keepAlive, stalled } = deps.host.limits;
    const { socket: transport } = deps.request.raw;
    this.#keepAlive = new KeepAlive(socket, transport, keepAlive);
    this.#transport = transport;
    this.#stall = new StallWatch(transport, stalled, () => socket.terminate());
    this.#inbox = new Inbox({
      socket,
      transport,
      slowReader: deps.host.limits.slowReader,
      rate: deps.options.messagesPerSecond,
      arriving: new Arriving({
        transport,
        account: deps.host.account(deps.request),
        refuse: (error) => this.#refuse(error),
      }),
      handle: (text, held) => this.#receive(text, held),
    });
    socket.on("error", () => socket.terminate());
    socket.on("close", () => void this.#close());
  }

  /** Its messages cannot be accepted now; it may reconnect later. */
  #refuse(error: VenturiError): void {
    this.#send({ type: "stream_error", error: publicError(error) });
    this.#socket.close(1013, "try again later");
    setTimeout(() => this.#socket.terminate(), closing).unref();
  }

  async #receive(text: string | undefined, held: Charge): Promise<void> {
    let id: string | undefined;
    try {
      const sent = parseMessage(text);
      id = idIn(sent);
      await this.#obey(parseCommand(sent), held);
    } catch (thrown) {
      const error = wrap(op, thrown);
      if (error.code === "internal") this.#deps.host.log.error("a command failed", { error: String(thrown) });
      this.#send({ type: "stream_error", ...(id === undefined ? {} : { id }), error: publicError(error) });
    }
  }

  async #obey(command: Command, held: Charge): Promise<void> {
    switch (command.type) {
      case "run":
        return await this.#start(command, held);
      case "subscribe":
        await this.#runs.get(command.run);
        return this.#closed ? undefined : this.#follow(command);
      case "unsubscribe":
        this.#speech.interrupt(command.run);
        return this.#following.get(command.run)?.abort();
      case "feed":
        return this.#watch(command);
      case "unfeed":
        return this.#feed?.abort();
      case "cancel":
        return await this.#runs.cancel(command.run, command.reason ?? "cancelled by the client");
      case "interrupt":
        return await this.#interrupt(command);
      case "approve":
      case "answer": {
        const { run, call } = command;
        return mustArrive(await this.#runs.signal(run, "approve", approvalOf(command), `approve:${call}`));
      }
      case "message":
        return mustArrive(await this.#runs.signal(command.run, "message", { text: command.text }));
      case "pause": {
        const { run, reason } = command;
        return mustArrive(await this.#runs.signal(run, "pause", reason === undefined ? {} : { reason }));
      }
      case "resume":
        return mustArrive(await this.#runs.signal(command.run, "resume", {}));
      case "ping":
        return this.#send({ type: "pong", ...(command.id === undefined ? {} : { id: command.id }) });
    }
  }

  async #start(command: Extract<Command, { type: "run" }>, held: Charge): Promise<void> {
    this.#mustHaveRoom();
    mustFit(command);
    if (command.speech) this.#speech.mustHaveVoice();
    const { type: _, id, agent, input, session, metadata, limits, key, as, sentences, speech, ...settings } = command;
    const { run } = await this.#runs.start(
      {
        agent,
        input: typeof input === "string" ? { text: input } : input,
        onDisconnect: this.#deps.options.onDisconnect,
        ...(session === undefined ? {} : { session }),
        ...this.#speech.metadata(session, metadata),
        ...(limits === undefined ? {} : { limits }),
        ...callRequest(settings),
        ...traceHeadersOf(this.#deps.request.headers),
      },
      { held, ...(key === undefined ? {} : { key, sent: { input, session, metadata, limits, ...settings } }) },
    );
    if (this.#closed) return await this.#leave([run]);
    this.#started.add(run);
    this.#follow({ run, after: 0, as, sentences, speech, id });
  }

  #follow(following: Following): void {
    if (this.#following.has(following.run)) {
      throw new VenturiError(op, "conflict", "this socket already follows the run");
    }
    this.#mustHaveRoom();
    mustFit(following);
    if (following.speech) this.#speech.begin(following);
    void this.#pump(following);
  }

  #mustHaveRoom(): void {
    const { subscriptions } = this.#deps.options;
    if (this.#following.size < subscriptions) return;
    throw new VenturiError(op, "too_large", `one socket follows at most ${subscriptions} runs; open another`);
  }

  async #pump({ run, after, as, sentences, speech, id }: Following): Promise<void> {
    const abort = new AbortController();
    this.#following.set(run, abort);
    const projection = as === "events" ? new Verbatim(run, after, id) : new Projection({ after, sentences, id });
    const beat = setInterval(() => this.#beat(run), this.#deps.host.limits.keepAlive);
    try {
      const options = { after: speech ? 0 : projection.from, signal: abort.signal, channel: "websocket" };
      for await (const batch of this.#runs.follow(run, options)) {
        if (speech) this.#speech.take(run, batch);
        if (await this.#write(batch, projection)) beat.refresh();
        if (abort.signal.aborted) return;
      }
    } catch (thrown) {
      const error = wrap("run.follow", thrown, "stream_error");
      // The run goes on elsewhere: its client follows it again once this socket closes, and takes an error for the end of the run.
      if (error.code === "shutting_down") return;
      this.#send({ type: "stream_error", run, ...(id === undefined ? {} : { id }), error: publicError(error) });
    } finally {
      clearInterval(beat);
      this.#following.delete(run);
      this.#started.delete(run);
    }
  }

  /** A second feed replaces the first. */
  #watch({ id, agent }: Extract<Command, { type: "feed" }>): void {
    const abort = new AbortController();
    const feed = this.#runs.feed({ signal: abort.signal, ...(agent === undefined ? {} : { agent }) });
    this.#feed?.abort();
    this.#feed = abort;
    void this.#pumpFeed(feed, id === undefined ? {} : { id });
  }

  /** Waits for a full socket; what the reader misses meanwhile is reported as a gap. */
  async #pumpFeed(feed: AsyncIterable<readonly FeedItem[]>, id: { id?: string }): Promise<void> {
    try {
      for await (const items of feed) await this.#sendFrame(JSON.stringify({ type: "feed", ...id, items }));
    } catch (thrown) {
      this.#send({ type: "stream_error", ...id, error: publicError(wrap("run.feed", thrown, "stream_error")) });
    }
  }

  /** Heartbeat of a quiet run. None while the reader has data pending. */
  #beat(run: string): void {
    if (this.#socket.bufferedAmount === 0) this.#send({ type: "heartbeat", run, at: Date.now() });
  }

  /** Sends a batch in one write, as far as the socket accepts it. Returns whether there was something to send. */
  async #write(batch: readonly RunEvent[], projection: Pick<Projection, "messages">): Promise<boolean> {
    const socket = this.#socket;
    const transport = this.#transport;
    let wrote = false;
    transport.cork();
    for (const message of projection.messages(batch)) {
      wrote = true;
      if (socket.readyState !== socket.OPEN) break;
      if (socket.bufferedAmount < this.#deps.host.limits.slowReader) {
        socket.send(message);
        continue;
      }
      const taken = new Promise<void>((resolve) => socket.send(message, () => resolve()));
      transport.uncork();
      await taken;
      transport.cork();
    }
    transport.uncork();
    return wrote;
  }

  /** Stops speech and run; what was heard is recorded in the run's last event, or in the session's next run. */
  async #interrupt({ run, id, playedMs }: Extract<Command, { type: "interrupt" }>): Promise<void> {
    const row = await this.#runs.get(run);
    const heard = this.#speech.interrupt(run, playedMs);
    const running = row.state !== "done";
    const details = heard === undefined ? undefined : { heard };
    if (running) await this.#runs.cancel(run, "interrupted by the listener", details);
    else if (heard !== undefined) this.#speech.keep(row, heard);
    this.#send({ type: "interrupted", run, ...(id === undefined ? {} : { id }), ...details, cancelled: running });
  }

  /** Audio and feed are subject to the same backpressure as events. */
  async #sendFrame(frame: Uint8Array | string): Promise<void> {
    const socket = this.#socket;
    if (socket.readyState !== socket.OPEN) return;
    if (socket.bufferedAmount < this.#deps.host.limits.slowReader) return socket.send(frame);
    await new Promise<void>((resolve) => socket.send(frame, () => resolve()));
  }

  #send(message: Record<string, unknown>): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  async #close(): Promise<void> {
    this.#closed = true;
    this.#keepAlive.stop();
    this.#speech.close();
    this.#stall.stop();
    this.#inbox.close();
    this.#feed?.abort();
    const left = [...this.#started];
    for (const abort of this.#following.values()) abort.abort();
    await this.#leave(left);
  }

  async #leave(runs: readonly string[]): Promise<void> {
    if (this.#deps.options.onDisconnect === "continue") return;
    await Promise.allSettled(runs.map((run) => this.#runs.cancel(run, "the client disconnected")));
  }
}
