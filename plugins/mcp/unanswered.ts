import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

type Handler = NonNullable<Transport["onmessage"]>;

/** Lets `shown` see, change or keep back each message of the server. May be applied several times; the first one sees a message first. */
export function throughMessages(
  transport: Transport,
  shown: (message: JSONRPCMessage) => JSONRPCMessage | undefined,
): void {
  const inner = Object.getOwnPropertyDescriptor(transport, "onmessage");
  let receive: Transport["onmessage"];
  Object.defineProperty(transport, "onmessage", {
    configurable: true,
    get: () => (inner?.get === undefined ? receive : inner.get()),
    set: (handler: Transport["onmessage"]) => {
      const next: Transport["onmessage"] =
        handler &&
        ((...[message, ...more]: Parameters<Handler>) => {
          const passed = shown(message);
          if (passed !== undefined) handler(passed, ...more);
        });
      if (inner?.set === undefined) receive = next;
      else inner.set(next);
    },
  });
}

/** A request whose stream ends for good without the answer fails. The library would wait on: it has no other sign that none comes. */
export function failUnanswered(transport: Transport): void {
  const open = new Set<string>(); // Ids as texts: some servers answer 5 with "5", which the library takes.
  throughMessages(transport, (message) => {
    if (!("method" in message)) open.delete(String(message.id));
    return message;
  });
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    if ("method" in message && message.method === "notifications/cancelled")
      open.delete(String(message.params?.requestId));
    // A caller with its own handler deals with the end itself.
    const isOurs = "method" in message && "id" in message && options?.onRequestStreamEnd === undefined;
    if (!isOurs) return await send(message, options);
    const { id } = message;
    const key = String(id);
    open.add(key);
    options?.requestSignal?.addEventListener("abort", () => open.delete(key), { once: true });
    const onRequestStreamEnd = () => {
      if (open.has(key)) transport.onmessage?.({ jsonrpc: "2.0", id, error: { code: -32_000, message: ended } });
    };
    try {
      await send(message, { ...options, onRequestStreamEnd });
    } catch (thrown) {
      open.delete(key);
      throw thrown;
    }
  };
}

const ended = "the server ended the stream of the call without a result; the call may have been made";
