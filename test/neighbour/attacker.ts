import { setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { parentPort } from "node:worker_threads";
import { attacks, Loud } from "./attacks.ts";

/** The loud tenant, in its own thread. Answers each message once: with the waves so far, when it has stopped and its runs have. */
export type Order =
  | { readonly prepare: string; readonly url: string }
  | { readonly go: true }
  | { readonly stop: true };

// Of this thread alone. It stands for another machine: what it costs to attack must not be taken from who is measured.
setPriority(10);

let attacking: Promise<void> | undefined;
let isOver = false;
let waves = 0;
let loud: Loud | undefined;
let name = "";
let prepared: unknown;

async function attack(target: Loud): Promise<void> {
  while (!isOver) {
    await attacks[name]?.again(target, prepared).catch(() => {}); // refusing it is right
    waves += 1;
    await sleep(20);
  }
}

parentPort?.on("message", async (order: Order) => {
  if ("prepare" in order) {
    name = order.prepare;
    waves = 0;
    loud = new Loud(order.url, "loud");
    prepared = await attacks[name]?.prepare?.(loud).catch(() => undefined);
    await loud.atRest().catch(() => {});
  } else if ("go" in order && loud !== undefined) {
    isOver = false;
    attacking = attack(loud);
  } else {
    isOver = true;
    await attacking;
    await loud?.atRest().catch(() => {}); // the service may be gone
  }
  parentPort?.postMessage(waves);
});
