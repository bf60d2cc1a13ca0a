import type { Socket } from "node:net";
import { inputWeight } from "venturi/internal";
import { type Account, type Charge, VenturiError } from "venturi/plugin";

/** Smaller messages are not charged while they arrive, and have no minimum rate. */
const small = 64 * 1024;
/** Minimum rate of larger messages after an initial delay, bytes a second. */
const slowest = 64 * 1024;
const patience = 2_000;
/** Minimum size of a masked frame's header. */
const frameHeader = 6;

export interface ArrivingOptions {
  readonly transport: Socket;
  readonly account: Account;
  /** Called when the message cannot be accepted: no memory for it, or it arrives too slowly. */
  readonly refuse: (error: VenturiError) => void;
}

/** The message being received, charged to its sender from its first large piece on. The WebSocket library buffers the pieces. */
export class Arriving {
  readonly #options: ArrivingOptions;
  #read: number;
  #began = 0;
  #charge: Charge | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ArrivingOptions) {
    this.#options = options;
    this.#read = options.transport.bytesRead;
    options.transport.on("data", this.#onData);
  }

  /** The message is complete; returns its charge, to be released once handled. */
  complete(bytes: number): Charge {
    const { transport, account } = this.#options;
    const charge = this.#charge ?? account.hold(bytes * inputWeight, "frame");
    this.#charge = undefined;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#read = transport.bytesRead;
    return charge;
  }

  /** Control frames may come between the pieces of a message. */
  skip(bytes: number): void {
    this.#read += bytes + frameHeader;
  }

  close(): void {
    this.#options.transport.removeListener("data", this.#onData);
    clearInterval(this.#timer);
    this.#charge?.release();
  }

  readonly #onData = (): void => {
    const { transport, account } = this.#options;
    const waiting = transport.bytesRead - this.#read;
    if (waiting <= small) return;
    try {
      if (this.#charge === undefined) {
        this.#began = performance.now();
        this.#charge = account.charge(waiting * inputWeight, "frame");
        this.#timer = setInterval(this.#look, 500);
      } else if (waiting * inputWeight > this.#charge.bytes) {
        this.#charge.grow(waiting * inputWeight - this.#charge.bytes);
      }
    } catch (thrown) {
      if (!VenturiError.isInstance(thrown)) throw thrown;
      this.close();
      this.#options.refuse(thrown);
    }
  };

  readonly #look = (): void => {
    const waiting = this.#options.transport.bytesRead - this.#read;
    if (waiting >= ((performance.now() - this.#began - patience) / 1_000) * slowest) return;
    this.close();
    const message = `a large message has to arrive at ${slowest / 1024} KiB a second or faster`;
    this.#options.refuse(new VenturiError("socket.receive", "timeout", message));
  };
}
