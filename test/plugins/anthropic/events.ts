/** Events as the Messages API writes them. */
export const event = (data: object): string =>
  `event: ${"type" in data ? data.type : ""}\ndata: ${JSON.stringify(data)}\n\n`;
export const begin = event({
  type: "message_start",
  message: { id: "msg_1", content: [], usage: { input_tokens: 1 } },
});
export const stop = (reason: string) => event({ type: "message_delta", delta: { stop_reason: reason }, usage: {} });
export const end = event({ type: "message_stop" });
