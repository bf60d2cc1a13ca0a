import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

type Handler = NonNullable<Transport["onmessage"]>;

/** Lets `shown` see, change or keep back each message of the server. May be applied several times; the last one sees a message first. */
export function throughMessages(
  transport: Transport,
  shown: (message: JSONRPCMessage) => JSONRPCMessage | undefined,
): void {
  const inner = Object.getOwnPropertyDescriptor(transport, "onmessage");
  let receive: Transport["onmessage"];
  Object.defineProperty(transport, "onmessage", {
    configurable: true,
    get: () => {
      const next: Handler | undefined = inner?.get === undefined ? receive : inner.get();
      if (next === undefined) return undefined;
      return (...[message, ...more]: Parameters<Handler>) => {
        const passed = shown(message);
        if (passed !== undefined) next(passed, ...more);
      };
    },
    set: (handler: Transport["onmessage"]) => {
      if (inner?.set === undefined) receive = handler;
      else inner.set(handler);
    },
  });
}

/** A request whose stream ends for good without the answer fails. The library would wait on: it has no other sign that none comes. */
export function failUnanswered(transport: Transport): void {
  const open = new Set<unknown>();
  throughMessages(transport, (message) => {
    if (!("method" in message)) open.delete(message.id);
    return message;
  });
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    if ("method" in message && message.method === "notifications/cancelled") open.delete(message.params?.requestId);
    // A caller that looks after the end itself is told of it alone.
    const isOurs = "method" in message && "id" in message && options?.onRequestStreamEnd === undefined;
    if (!isOurs) return await send(message, options);
    const { id } = message;
    open.add(id);
    options?.requestSignal?.addEventListener("abort", () => open.delete(id), { once: true });
    const onRequestStreamEnd = () => {
      if (open.has(id)) transport.onmessage?.({ jsonrpc: "2.0", id, error: { code: -32_000, message: ended } });
    };
    try {
      await send(message, { ...options, onRequestStreamEnd });
    } catch (thrown) {
      open.delete(id);
      throw thrown;
    }
  };
}

const ended = "the server ended the stream of the call without a result; the call may have been made";
