/**
 * A conversation over the WebSocket channel, for browsers and Node alike. Whoever listens is told what happens:
 *   sentence(text)                       the moment it is complete, to be spoken
 *   called(name, input), told(name, text), answered(name, result, ms), refused(name, error)
 *                                        a tool: called, on its way, and how it ended
 *   asked(name, input, answer)           a tool needs permission; answer(true) or answer(false)
 *   retracted()                          what was said in this turn does not count: another model begins again
 *   over(reason)                         the turn has ended: "done", "interrupted" or an error's text
 *   gone(reason)                         the socket is closed
 */
export class Conversation {
  #socket;
  #agent;
  #listener;
  /** Of one browser tab or program; the agent remembers what was said in it. */
  #session = `talk-${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}`;
  #turns = 0;
  /** The turn that is listened to: its id, and its run as soon as that is known. What other runs still say is not for us. */
  #turn;

  constructor({ url, agent, key, listener, WebSocket = globalThis.WebSocket }) {
    this.#agent = agent;
    this.#listener = listener;
    // A browser cannot set headers on a socket, so the key goes as a subprotocol.
    this.#socket = new WebSocket(url, key ? ["venturi", `bearer.${key}`] : []);
    this.opened = new Promise((resolve, reject) => {
      this.#socket.addEventListener("open", () => {
        resolve();
        this.#socket.addEventListener("close", ({ reason }) => listener.gone?.(reason || "the connection was closed"));
      });
      this.#socket.addEventListener("error", () => reject(new Error(`no service answers at ${url}`)));
    });
    this.opened.catch(() => {}); // whoever wants to know awaits it
    this.#socket.addEventListener("message", ({ data }) => this.#receive(JSON.parse(data)));
  }

  get isBusy() {
    return this.#turn !== undefined;
  }

  /** Says something to the agent. What it was saying is interrupted. */
  say(text) {
    this.interrupt();
    const id = `turn-${++this.#turns}`;
    this.#turn = { id, run: undefined };
    this.#send({ type: "run", id, agent: this.#agent, input: text, session: this.#session, sentences: true });
  }

  interrupt() {
    if (this.#turn === undefined) return;
    const { id, run } = this.#turn;
    this.#turn = undefined;
    if (run === undefined) this.#early.add(id);
    else this.#send({ type: "interrupt", run });
    this.#listener.over?.("interrupted");
  }

  /** Turns that were interrupted before their run was known. */
  #early = new Set();

  close() {
    this.#socket.close();
  }

  #send(message) {
    this.#socket.send(JSON.stringify(message));
  }

  #receive(message) {
    if (message.type === "stream_start") this.#begin(message);
    const isOurs = this.#turn !== undefined && (message.run === this.#turn.run || message.id === this.#turn.id);
    if (isOurs) this.#tell(message);
  }

  #begin({ id, run }) {
    if (this.#early.delete(id)) this.#send({ type: "interrupt", run });
    else if (this.#turn?.id === id) this.#turn.run = run;
  }

  #tell(message) {
    const { name, call, run } = message;
    switch (message.type) {
      case "stream_chunk":
        if (message.kind === "sentence" || message.kind === "refusal") this.#listener.sentence?.(message.delta.trim());
        return;
      case "tool_call":
        return this.#listener.called?.(name, message.arguments, call);
      case "tool_output":
        return this.#listener.told?.(call, message.text.trim());
      case "tool_result":
        if (message.ok) return this.#listener.answered?.(name, message.output, message.ms, call);
        return this.#listener.refused?.(name, message.error?.err ?? "failed", call);
      case "approval_request":
        return this.#listener.asked?.(name, message.arguments, (approved) =>
          this.#send({ type: "approve", run, call, approved }),
        );
      case "stream_retract":
        return this.#listener.retracted?.();
      case "stream_end":
      case "stream_error":
        this.#turn = undefined;
        return this.#listener.over?.(message.type === "stream_end" ? "done" : message.error.err);
    }
  }
}
