/** One SSE event, as a reader sees it. */
export interface SseEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string;
}

/** A small reader of our own, so that what is tested is not also what tests. */
export async function* readSse(body: ReadableStream<Uint8Array> | null): AsyncGenerator<SseEvent> {
  if (body === null) return;
  let buffer = "";
  for await (const chunk of body.pipeThrough(new TextDecoderStream() as never) as unknown as AsyncIterable<string>) {
    buffer += chunk;
    for (let end = buffer.indexOf("\n\n"); end >= 0; end = buffer.indexOf("\n\n")) {
      const block = buffer.slice(0, end);
      buffer = buffer.slice(end + 2);
      const fields = new Map(
        block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
      );
      const data = fields.get("data");
      if (data !== undefined) yield { id: fields.get("id"), event: fields.get("event"), data };
    }
  }
}

export async function allSse(response: Response): Promise<SseEvent[]> {
  const events: SseEvent[] = [];
  for await (const event of readSse(response.body)) events.push(event);
  return events;
}
