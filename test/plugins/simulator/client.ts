import { request } from "node:http";
import { connect } from "node:net";

/** What came over the wire, network read by network read. */
export interface Received {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly reads: Buffer[];
  readonly text: string;
  /** How the body ended: in good order, or with this error code. */
  readonly ended: "end" | string;
}

export const prompt = (content: string, more: object = {}) => ({
  model: "echo",
  stream: true,
  messages: [{ role: "user", content }],
  ...more,
});

export function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Received> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", headers }, (response) => {
      // A reset after the headers is told to the request as well as to the response, which knows what has arrived.
      sent.off("error", reject).on("error", () => {});
      const reads: Buffer[] = [];
      const finish = (ended: string) =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          reads,
          text: Buffer.concat(reads).toString(),
          ended,
        });
      response.on("data", (bytes: Buffer) => reads.push(bytes));
      response.once("end", () => finish("end"));
      response.once("error", (error: NodeJS.ErrnoException) => finish(error.code ?? error.message));
    });
    sent.once("error", reject);
    sent.end(JSON.stringify(body));
  });
}

/** The data of each SSE event. */
export const events = (text: string): string[] =>
  text
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => event.replace(/^(event: .*\n)?data: /, ""));

/** Whether anyone listens on the port. */
export function refuses(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(false);
    });
    socket.once("error", () => resolve(true));
  });
}
