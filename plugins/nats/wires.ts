import { randomUUID } from "node:crypto";
import type { KeptWire } from "venturi/plugin";
import type { Names } from "./names.ts";
import type { Store } from "./store.ts";

/** Stores raw provider bytes, split where a message cannot hold them. */
export async function keepWire(
  op: string,
  { store, names }: { store: Store; names: Names },
  { run, wire }: { run: string; wire: KeptWire },
): Promise<void> {
  // A retry after a lost response may store them twice; the nonce identifies duplicates.
  const headers = `W: ${wire.round} ${wire.attempt} ${encodeURIComponent(wire.wire)}\r\nN: ${randomUUID()}\r\n`;
  await store.put(op, { subject: names.wire(run), headers, data: wire.bytes });
}

export async function readWires(op: string, { store, names }: { store: Store; names: Names }, run: string) {
  const filter = names.wire(run);
  const last = await store.last(op, names.wires, filter);
  const wires = new Map<string, KeptWire>();
  if (!last) return [];
  for await (const stored of store.scan(op, names.wires, { filter, seq: 1, upTo: last.seq })) {
    const [round, attempt, wire = ""] = (stored.header("W") ?? "").split(" ");
    wires.set(stored.header("N") ?? "", {
      round: Number(round),
      attempt: Number(attempt),
      wire: decodeURIComponent(wire),
      bytes: new Uint8Array(stored.data),
    });
  }
  return [...wires.values()];
}
