import { computed, signal } from "@preact/signals";
import { ClientError, VenturiClient } from "venturi/client";
import type { AgentView, Me } from "./api-types.ts";

/** The key stays in this tab: not in the address, not on disk, not in the document. */
const place = "venturi.key";
const key = signal(sessionStorage.getItem(place) ?? undefined);

export const client = computed(
  () => new VenturiClient({ transport: "websocket", ...(key.value === undefined ? {} : { apiKey: key.value }) }),
);

/** `asking`: the service wants a key. */
export const entry = signal<"checking" | "asking" | "in" | "unreachable">("checking");
export const refusal = signal("");
export const me = signal<Me>({ id: "", may: [] });
export const agents = signal<readonly AgentView[]>([]);

export const may = (scope: string): boolean => me.value.may.includes(scope);

/** The run that is shown belongs to another tenant, and this key only reads it. */
export const isForeign = signal(false);

/** Of the run that is shown. */
export const mayHere = (scope: string): boolean => may(scope) && !isForeign.value;
export const hasKey = computed(() => key.value !== undefined);

export function useKey(secret: string): void {
  sessionStorage.setItem(place, secret);
  key.value = secret;
  void enter();
}

export function forgetKey(): void {
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
    const [known, whoami] = await Promise.all([client.value.agents(), askMe()]);
    agents.value = known;
    me.value = whoami;
    entry.value = "in";
  } catch (thrown) {
    if (thrown instanceof ClientError && (thrown.code === "unauthorized" || thrown.code === "forbidden")) {
      refusal.value = key.value === undefined ? "" : thrown.message;
      entry.value = "asking";
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
