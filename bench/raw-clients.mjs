// The load of bench/scale.mjs: runs over kept connections on bare sockets, with prepared bytes.
import { connect } from "node:net";

const id = Buffer.from("\nid: ");
const finished = Buffer.from("run.finished");
const lastChunk = "0\r\n\r\n";

/** Closed loop: each of the clients starts its next run when the last has ended. */
export async function load(url, { clients, seconds, body }) {
  const { hostname, port, host } = new URL(url);
  const head = `POST /v1/runs HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\naccept: text/event-stream\r\n`;
  const request = Buffer.from(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  const times = [];
  let events = 0;
  const started = performance.now();
  const until = started + seconds * 1000;
  const client = async () => {
    let socket;
    while (performance.now() < until) {
      const at = performance.now();
      socket ??= connect({ host: hostname, port: Number(port), noDelay: true });
      const run = await stream(socket, request);
      // Closed by the service while nothing was under way: as a client would, on another connection.
      if (run === undefined) {
        socket = undefined;
        continue;
      }
      if (run.closes) socket = void socket.destroy();
      events += run.events;
      times.push(performance.now() - at);
    }
    socket?.destroy();
  };
  await Promise.all(Array.from({ length: clients }, client));
  return { wall: performance.now() - started, times, events };
}

/** One streamed run; resolves with its number of events when its response has ended. */
function stream(socket, request) {
  return new Promise((resolve, reject) => {
    let events = 1;
    let head;
    let done = false;
    let tail = "";
    const stop = (settle, value) => {
      socket.removeAllListeners();
      socket.on("error", () => {});
      settle(value);
    };
    socket.on("data", (bytes) => {
      head ??= bytes;
      for (let at = bytes.indexOf(id); at >= 0; at = bytes.indexOf(id, at + 5)) events++;
      done ||= bytes.includes(finished);
      tail = (bytes.length < 5 ? tail : "").concat(bytes.subarray(-5).latin1Slice()).slice(-5);
      if (tail !== lastChunk) return;
      if (done) stop(resolve, { events, closes: /^connection: close/im.test(head.toString("latin1", 0, 1_000)) });
      else stop(reject, new Error(`not finished: ${bytes.toString("latin1", 0, 500)}`));
    });
    const cut = (error) => (head === undefined ? stop(resolve, undefined) : stop(reject, error));
    socket.on("error", cut);
    socket.on("close", () => cut(new Error("the connection was closed")));
    socket.write(request);
  });
}
