import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import type { Agent } from "node:https";
import type { AxiosAdapter, AxiosHeaders, AxiosProxyConfig } from "axios";

export interface Outgoing {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly agent: Agent;
  readonly proxy: AxiosProxyConfig | false;
  /** The request, the moment it is made. */
  readonly made: (request: ClientRequest) => void;
}

export interface Incoming {
  readonly status: number;
  readonly headers: unknown;
  readonly data: IncomingMessage;
}

export type HttpClient = (outgoing: Outgoing) => Promise<Incoming>;

let client: HttpClient | undefined;

/**
 * axios, loaded when it is first needed. Its HTTP adapter is called directly: there are no defaults to merge, no
 * interceptors and no transforms to run here, and they cost as much as the request itself.
 */
export async function httpClient(): Promise<HttpClient> {
  client ??= await load();
  return client;
}

async function load(): Promise<HttpClient> {
  const [axios, http, https] = await Promise.all([import("axios"), import("node:http"), import("node:https")]);
  const send: AxiosAdapter = axios.default.getAdapter("http");
  return ({ url, headers, body, agent, proxy, made }) =>
    send({
      url,
      method: "post",
      headers: new axios.AxiosHeaders(headers as AxiosHeaders), // a record of strings is what it is made of
      data: body,
      responseType: "stream",
      decompress: false,
      maxRedirects: 0,
      maxBodyLength: Number.POSITIVE_INFINITY,
      httpAgent: agent,
      httpsAgent: agent,
      proxy,
      validateStatus: null,
      transport: {
        request(options: RequestOptions, callback: (response: IncomingMessage) => void) {
          const request = (options.protocol === "https:" ? https : http).request(options, callback);
          made(request);
          return request;
        },
      },
    });
}
