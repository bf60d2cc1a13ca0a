import { signal } from "@preact/signals";
import { announce } from "../parts/announce.tsx";
import { client, may } from "./session.ts";

/** How many questions wait for a person. */
export const waiting = signal(0);
const every = 5_000;

/** Asks now and then; returns what stops it. */
export function startWaiting(): () => void {
  const ask = async () => {
    if (document.hidden || !may("see")) return;
    const { approvals } = await client.value.approvals({ limit: 50 });
    if (approvals.length > waiting.value) announce(`${approvals.length} tool calls need approval`, "assertive");
    waiting.value = approvals.length;
    document.title = approvals.length > 0 ? `(${approvals.length}) Venturi` : "Venturi";
  };
  const again = () => void ask().catch(() => {});
  again();
  const timer = setInterval(again, every);
  return () => clearInterval(timer);
}
