import { type ClientReport, follow } from "./client.ts";
import { Random } from "./random.ts";

const kinds = ["plain", "tools", "approval"];

export interface ClientsOptions {
  readonly clients: number;
  readonly seed: number;
  /** Most that one run may take, ms. */
  readonly patience?: number | undefined;
  /** Whether the run of this number is still to be started. */
  more(number: number): boolean;
}

/** Clients beside each other, each with one run after the other, of every kind; what each of them does comes from the seed. */
export async function followAll(urls: readonly string[], options: ClientsOptions): Promise<ClientReport[]> {
  const reports: ClientReport[] = [];
  let next = 0;
  const client = async () => {
    while (options.more(next)) {
      const number = next++;
      const own = new Random(options.seed * 1_000_003 + number);
      const deadline = Date.now() + (options.patience ?? 90_000);
      reports.push(await follow(urls, `${own.pick(kinds)} ${number}`, own, deadline));
    }
  };
  await Promise.all(Array.from({ length: options.clients }, client));
  return reports;
}
