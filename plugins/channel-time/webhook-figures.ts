import type { KeyValues } from "venturi/plugin";
import { space } from "./lanes.ts";

/** Delivery figures of a webhook, over all replicas and restarts. Only for display. */
export interface Figures {
  readonly delivered: number;
  readonly failed: number;
  readonly buried: number;
  readonly deliveredAt?: number;
  readonly failedAt?: number;
  readonly error?: string;
}

const none: Figures = { delivered: 0, failed: 0, buried: 0 };

export class WebhookFigures {
  readonly #values: KeyValues;
  readonly #key: string;
  #figures: Figures = none;
  #changed = false;

  constructor(values: KeyValues, webhook: string) {
    this.#values = values;
    this.#key = `figures/${webhook}`;
  }

  delivered(at: number): void {
    this.#set({ ...this.#figures, delivered: this.#figures.delivered + 1, deliveredAt: at });
  }

  failed(error: string, at: number): void {
    this.#set({ ...this.#figures, failed: this.#figures.failed + 1, failedAt: at, error });
  }

  buried(): void {
    this.#set({ ...this.#figures, buried: this.#figures.buried + 1 });
  }

  async read(): Promise<Figures> {
    const found = await this.#values.get(space, this.#key);
    return found === undefined ? none : (JSON.parse(found.value) as Figures); // Written from one.
  }

  /** Continues from the stored figures. */
  async open(): Promise<void> {
    this.#figures = await this.read();
    this.#changed = false;
  }

  async store(): Promise<void> {
    if (!this.#changed) return;
    this.#changed = false;
    const found = await this.#values.get(space, this.#key);
    await this.#values.put(space, {
      key: this.#key,
      value: JSON.stringify(this.#figures),
      version: found?.version ?? 0,
    });
  }

  #set(figures: Figures): void {
    this.#figures = figures;
    this.#changed = true;
  }
}
