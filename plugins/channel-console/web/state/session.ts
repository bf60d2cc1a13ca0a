import { computed, signal } from "@preact/signals";
import { ClientError, VenturiClient } from "venturi/client";
import type { AgentView, Me } from "./api-types.ts";

/** The key stays in this tab: not in the address, on disk, or in the document. */
const place = "venturi.key";
const key = signal(sessionStorage.getItem(place) ?? undefined);

export const client = computed(
  () => new VenturiClient({ transport: "websocket", ...(key.value === undefined ? {} : { apiKey: key.value }) }),
);

/** `asking`: the service requires a key. */
export const entry = signal<"checking" | "asking" | "in" | "unreachable">("checking");
export const refusal = signal("");
export const me = signal<Me>({ id: "", may: [] });
export const agents = signal<readonly AgentView[]>([]);

export const may = (scope: string): boolean => me.value.may.includes(scope);

/** Whether the key may act for this tenant: an operator's key may see all tenants but act only on its own. */
export function mayFor(tenant: string | undefined, scope: string): boolean {
  const { tenant: own, tenants, act } = me.value;
  return may(scope) && (tenants !== "all" || act === "all" || tenant === own);
}

/** Tenant of the run that is shown. */
export const owner = signal<string | undefined>(undefined);

/** For the run that is shown. */
export const mayHere = (scope: string): boolean => mayFor(owner.value, scope);
export const hasKey = computed(() => key.value !== undefined);

/** Tabs of this browser pass the key to tabs opened from them: in memory, and never to another origin. */
const tabs = new BroadcastChannel("venturi.key");
tabs.onmessage = ({ data }: MessageEvent<{ readonly ask?: true; readonly key?: string; readonly out?: true }>) => {
  if (data.ask === true && key.value !== undefined && entry.value === "in") tabs.postMessage({ key: key.value });
  if (data.key !== undefined && key.value === undefined && entry.value !== "in") useKey(data.key);
  if (data.out === true && key.value !== undefined) leave();
};

export function useKey(secret: string): void {
  sessionStorage.setItem(place, secret);
  key.value = secret;
  void enter();
}

/** Signs out, in all tabs. */
export function forgetKey(): void {
  tabs.postMessage({ out: true });
  leave();
}

function leave(): void {
  sessionStorage.removeItem(place);
  client.value.close();
  key.value = undefined;
  refusal.value = "";
  void enter();
}

const everything = ["start", "see", "steer", "inspect", "approve", "metrics", "erase"];

export async function enter(): Promise<void> {
  entry.value = "checking";
  try {
    me.value = await askMe(); // First: the service counts refused requests.
    agents.value = await client.value.agents();
    entry.value = "in";
  } catch (thrown) {
    if (thrown instanceof ClientError && (thrown.code === "unauthorized" || thrown.code === "forbidden")) {
      refusal.value = key.value === undefined ? "" : thrown.message;
      entry.value = "asking";
      if (key.value === undefined) tabs.postMessage({ ask: true });
      return;
    }
    refusal.value = thrown instanceof Error ? thrown.message : String(thrown);
    entry.value = "unreachable";
    setTimeout(() => entry.value === "unreachable" && void enter(), 2000);
  }
}

async function askMe(): Promise<Me> {
  try {
    return await client.value.request<Me>({ op: "me.get", path: "/v1/me" });
  } catch (thrown) {
    if (thrown instanceof ClientError && thrown.code === "not_found") return { id: "", may: everything };
    throw thrown;
  }
}

export const authorization = (): Record<string, string> =>
  key.value === undefined ? {} : { authorization: `Bearer ${key.value}` };
