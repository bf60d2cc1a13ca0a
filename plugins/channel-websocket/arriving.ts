import type { Socket } from "node:net";
import { ArrivalRate, inputWeight, minimumRate } from "venturi/internal";
import { type Account, type Charge, VenturiError } from "venturi/plugin";

/** Smaller messages are not charged while they arrive, and have no minimum rate. */
const small = 64 * 1024;
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
  #charge: Charge | undefined;
  #rate: ArrivalRate | undefined;

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
    this.#rate?.stop();
    this.#rate = undefined;
    this.#read = transport.bytesRead;
    return charge;
  }

  /** Control frames may come between the pieces of a message. */
  skip(bytes: number): void {
    this.#read += bytes + frameHeader;
  }

  close(): void {
    this.#options.transport.removeListener("data", this.#onData);
    this.#rate?.stop();
    this.#charge?.release();
  }

  readonly #onData = (): void => {
    const { transport, account } = this.#options;
    const waiting = transport.bytesRead - this.#read;
    if (waiting <= small) return;
    try {
      if (this.#charge === undefined) {
        this.#charge = account.charge(waiting * inputWeight, "frame");
        this.#rate = new ArrivalRate(() => transport.bytesRead - this.#read, this.#late);
      } else if (waiting * inputWeight > this.#charge.bytes) {
        this.#charge.grow(waiting * inputWeight - this.#charge.bytes);
      }
    } catch (thrown) {
      if (!VenturiError.isInstance(thrown)) throw thrown;
      this.close();
      this.#options.refuse(thrown);
    }
  };

  readonly #late = (): void => {
    this.close();
    this.#options.refuse(new VenturiError("socket.receive", "timeout", `a large message ${minimumRate}`));
  };
}
