import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { Connections } from "../../../src/host/http/connections.ts";
import { serve } from "../../service.ts";

const get = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

describe("the connections of a server", () => {
  let server: Server;
  let connections: Connections;
  const sockets: Socket[] = [];
  const waiting: ServerResponse[] = [];
  beforeEach(async () => {
    server = createServer((request, response) => {
      if (request.url === "/") setImmediate(() => response.end("done"));
      else waiting.push(response);
      server.emit("asked");
    });
    server.on("upgrade", (_, socket) => {
      socket.on("error", () => {}).on("end", () => socket.end());
      socket.resume().write("HTTP/1.1 101 Switching Protocols\r\n\r\n");
    });
    connections = new Connections(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
    waiting.length = 0;
    server.close();
  });

  const open = async () => {
    const accepted = once(server, "connection");
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    socket.on("error", () => {});
    sockets.push(socket);
    await accepted;
    return socket;
  };
  const answer = async (socket: Socket, request: string) => {
    socket.write(request);
    const [data] = (await once(socket, "data")) as [Buffer];
    return data.toString();
  };
  const ended = (socket: Socket) => once(socket.resume(), "close");
  /** Whether the promise has settled, once everything that could settle it has been done. */
  const isSettled = async (promise: Promise<unknown>) => {
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    return await Promise.race([promise.then(() => true), Promise.resolve(false)]);
  };

  it("are counted while they are open", async () => {
    const first = await open();
    await open();
    expect(connections.count).to.equal(2);
    await answer(first, get);
    expect(connections.count).to.equal(2);
    first.destroy();
    while (connections.count > 1) await sleep(2);
  });

  it("above the number to keep close after their next answer", async () => {
    const [first, second] = [await open(), await open()];
    connections.mostKept = 2;
    expect(await answer(first, get)).to.match(/connection: keep-alive/i);
    connections.mostKept = 1;
    expect(await answer(second, get)).to.match(/connection: close/i);
    await ended(second);
    expect(await answer(first, get)).to.match(/connection: keep-alive/i);
  });

  it("close at once when they are idle: never used, or used before", async () => {
    const [fresh, used] = [await open(), await open()];
    await answer(used, get);
    const all = Promise.all([ended(fresh), ended(used)]);
    expect(await isSettled(connections.closed)).to.equal(false);
    connections.close();
    await all;
    await connections.closed;
  });

  it("that are in use close after their answer, and `closed` waits for them", async () => {
    const busy = await open();
    const asked = once(server, "asked");
    busy.write(get.replace("/", "/wait"));
    await asked;
    connections.close();
    expect(await isSettled(connections.closed)).to.equal(false);
    const answered = answer(busy, "");
    waiting[0]?.end("late");
    expect(await answered).to.include("200 OK");
    await ended(busy);
    await connections.closed;
  });

  it("that were upgraded are left to who took them", async () => {
    const socket = await open();
    await answer(socket, get.replace("\r\n\r\n", "\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"));
    connections.close();
    expect(await isSettled(connections.closed)).to.equal(false);
    expect(socket.destroyed).to.equal(false);
    socket.destroy();
    await connections.closed;
  });

  it("are cut when their time is over, upgraded ones too", async () => {
    const { app, url, close } = await serve({ scripts: {}, channels: [] });
    // In place of the first listener, WebSockets, whose own timer would end it after half a minute.
    const [webSockets] = app.server.listeners("upgrade") as (() => void)[];
    app.server.off("upgrade", webSockets ?? expect.fail("nobody takes upgrades"));
    app.server.on("upgrade", (_, taken: Socket) => {
      taken.on("error", () => {}).write("HTTP/1.1 101 Switching Protocols\r\n\r\n");
    });
    const socket = connect(Number(new URL(url).port), "127.0.0.1").on("error", () => {});
    sockets.push(socket);
    await answer(socket, get.replace("\r\n\r\n", "\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"));
    await Promise.all([ended(socket), close(0)]);
  });

  it("are all closed when there are none", async () => {
    connections.close();
    await connections.closed;
  });
});
