import type { Socket } from "node:net";
import type { Child } from "./child.ts";

/** Connections that may wait while no process is ready; further ones are closed. */
const mostWaiting = 4_096;

/**
 * Hands connections to the processes in turn. A connection is kept until its process confirms it, so that one given to a
 * process that dies goes to another. (Node's cluster forgets it, and its client waits for ever.)
 */
export class Doorman {
  readonly #ready: () => readonly Child[];
  readonly #waiting: Socket[] = [];
  readonly #handed = new Map<number, { readonly socket: Socket; readonly child: Child }>();
  #last = 0;
  #turn = 0;

  constructor(ready: () => readonly Child[]) {
    this.#ready = ready;
  }

  take(socket: Socket): void {
    const ready = this.#ready();
    const child = ready[this.#turn++ % ready.length];
    if (child === undefined) return this.#wait(socket);
    const id = ++this.#last;
    this.#handed.set(id, { socket, child });
    child.hand(id, socket, () => this.#again(id));
  }

  /** The process has the connection; this copy of it is closed. */
  confirm(id: number): void {
    this.#handed.get(id)?.socket.destroy();
    this.#handed.delete(id);
  }

  /** A process has become ready. */
  open(): void {
    for (const socket of this.#waiting.splice(0)) if (!socket.destroyed) this.take(socket);
  }

  /** The process is dead: what it did not confirm goes to others. */
  gone(child: Child): void {
    for (const [id, handed] of [...this.#handed]) if (handed.child === child) this.#again(id);
  }

  close(): void {
    for (const socket of this.#waiting.splice(0)) socket.destroy();
    for (const { socket } of this.#handed.values()) socket.destroy();
    this.#handed.clear();
  }

  #again(id: number): void {
    const handed = this.#handed.get(id);
    this.#handed.delete(id);
    if (handed !== undefined) this.take(handed.socket);
  }

  #wait(socket: Socket): void {
    if (this.#waiting.length >= mostWaiting) socket.destroy();
    else this.#waiting.push(socket);
  }
}
