import type { OnReadOpts, Socket } from "node:net";
import { Readable } from "node:stream";

/** Filled by every read of every socket; what was read is copied before the next. */
const shared = Buffer.allocUnsafeSlow(64 * 1024);

/** A socket that hands over what it has just read, until somebody takes it. */
interface DirectSocket extends Socket {
  justRead: Buffer | undefined;
}

/**
 * Hands each read to undici's parser at once. Otherwise Node allocates 64 kB for a read, puts the bytes into the socket's
 * stream, and lets the parser take them out in the next tick, for every token of every stream. While the parser is paused, bytes
 * go into the stream as usual, which stops reading when it is full.
 */
export const directReads: OnReadOpts = {
  buffer: shared,
  callback(this: Socket, bytes: number): boolean {
    const socket = asDirect(this);
    const read = Buffer.from(shared.subarray(0, bytes));
    if (socket.readableLength > 0) return socket.push(read);
    socket.justRead = read;
    socket.emit("readable");
    if (socket.justRead === undefined) return true;
    socket.justRead = undefined;
    return socket.push(read);
  },
};

function asDirect(socket: Socket): DirectSocket {
  return socket.read === readDirectly
    ? (socket as DirectSocket)
    : Object.assign(socket, { read: readDirectly, justRead: undefined });
}

function readDirectly(this: DirectSocket, size?: number): unknown {
  const read = this.justRead;
  if (read === undefined) return Readable.prototype.read.call(this, size);
  this.justRead = undefined;
  return read;
}
