import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** How a provider behaves, given what was asked and how often. */
export type Answer = (response: ServerResponse, request: IncomingMessage, times: number) => void;

export const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
export const good = `${chunk({ role: "assistant", content: "fine" })}${chunk({}, "stop")}data: [DONE]\n\n`;

export const stream = (response: ServerResponse, body?: string): void => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  if (body === undefined) response.flushHeaders();
  else response.end(body);
};

export const json = (response: ServerResponse, status: number, body: object, headers: object = {}): void => {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
};

/** Providers that speak the OpenAI wire on loopback, each in its own way: the first part of the path is its name. */
export class StrangeServer {
  readonly #server: Server;
  readonly #times = new Map<string, number>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(answers: Readonly<Record<string, Answer>>, options: { readonly tls?: boolean } = {}) {
    const server: { current?: StrangeServer } = {};
    const listener = (request: IncomingMessage, response: ServerResponse) => {
      request.resume();
      const name = (request.url ?? "").split("/")[1] ?? "";
      answers[name]?.(response, request, server.current?.count(name) ?? 1);
    };
    const http = options.tls === true ? createTlsServer(selfSigned(), listener) : createServer(listener);
    http.listen(0, "127.0.0.1");
    await once(http, "listening");
    server.current = new StrangeServer(http);
    return server.current;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port; // it listens
  }

  count(name: string): number {
    const times = this.asked(name) + 1;
    this.#times.set(name, times);
    return times;
  }

  asked(name: string): number {
    return this.#times.get(name) ?? 0;
  }

  close(): void {
    if ("closeAllConnections" in this.#server) (this.#server as ReturnType<typeof createServer>).closeAllConnections();
    this.#server.close();
  }
}

function selfSigned(): { key: Buffer; cert: Buffer } {
  const folder = mkdtempSync(join(tmpdir(), "venturi-tls-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const subject = ["-subj", "/CN=localhost", "-days", "1"];
  execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, ...subject], {
    stdio: "ignore",
  });
  try {
    return { key: readFileSync(key), cert: readFileSync(cert) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
