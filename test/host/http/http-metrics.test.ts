import http from "node:http";
import { expect } from "chai";
import fastify from "fastify";
import { measureRequests } from "../../../src/host/http/http-metrics.ts";

describe("the metrics of a request", () => {
  it("tell its status, an error from 500 on, and a client that left before the answer", async () => {
    const took: Record<string, unknown>[] = [];
    let active = 0;
    let noted = () => {};
    const app = fastify();
    measureRequests(app, {
      shift: (_, by) => {
        active += by;
      },
      took: (_, __, attributes) => {
        took.push({ ...attributes });
        noted();
      },
    });
    let arrived = () => {};
    app.get("/never", async () => {
      arrived();
      await new Promise(() => {});
    });
    app.get("/status/:code", async (request, reply) =>
      reply.status(Number((request.params as { code: string }).code)).send("x"),
    );
    const url = await app.listen({ port: 0, host: "127.0.0.1" });
    const of = async (work: () => Promise<unknown>) => {
      const done = new Promise<void>((resolve) => {
        noted = resolve;
      });
      await work();
      await done;
      return took.at(-1);
    };
    const get = async (path: string) => (await fetch(url + path)).text();
    expect(await of(() => get("/status/200"))).to.include({
      "http.request.method": "GET",
      "http.route": "/status/:code",
      "http.response.status_code": "200",
      "url.scheme": "http",
    });
    expect(took.at(-1)).not.to.have.property("error.type");
    expect(await of(() => get("/status/404"))).not.to.have.property("error.type");
    expect(await of(() => get("/status/500"))).to.include({ "error.type": "500" });
    expect(await of(() => get("/nowhere"))).not.to.have.property("http.route", "/status/:code");
    const left = await of(async () => {
      const here = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      const request = http.get(`${url}/never`);
      request.on("error", () => {});
      await here;
      request.destroy();
      await new Promise((resolve) => request.once("close", resolve));
    });
    expect(left).to.include({ "error.type": "client_closed", "http.route": "/never" });
    expect(left).not.to.have.property("http.response.status_code");
    expect(active).to.equal(0);
    await app.close();
  });
});
