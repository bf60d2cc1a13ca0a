import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A WebSocket opened by hand, so that a test decides when its bytes are read. */
export async function openRaw(url: string, path = "/ws"): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  const key = randomBytes(16).toString("base64");
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
  );
  await once(socket, "readable");
  return socket;
}

export const textFrame = (text: string): Buffer => frame(0x1, Buffer.from(text));
export const pongFrame = (payload: Buffer): Buffer => frame(0xa, payload);
export const pingFrame = (payload: Buffer): Buffer => frame(0x9, payload);

/** One masked frame. */
export function frame(opcode: number, payload: Buffer): Buffer {
  const head = payload.length < 126 ? Buffer.of(0x80 | opcode, 0x80 | payload.length) : Buffer.alloc(4);
  if (payload.length >= 126) {
    head[0] = 0x80 | opcode;
    head[1] = 0x80 | 126;
    head.writeUInt16BE(payload.length, 2);
  }
  return Buffer.concat([head, Buffer.alloc(4), payload]); // a mask of zeros leaves the payload as it is
}
