import type { PlanEntry, SessionUpdate } from "@agentclientprotocol/sdk";
import type { EventOf } from "../../core/run/events.ts";
import { applyPatch } from "../../core/run/json-patch.ts";
import { isJsonObject } from "../../serve/json-rpc.ts";

/**
 * Shows a working memory document with a list `plan` of `{ content, status }` as the agent's plan. Folded from its patches in this session;
 * if it was changed elsewhere before, nothing is shown until a patch fits.
 */
export class Plans {
  readonly #values = new Map<string, unknown>();
  readonly #initial: (document: string) => unknown;

  constructor(initial: (document: string) => unknown) {
    this.#initial = initial;
  }

  after({ document, scope, owner, patch }: EventOf<"memory.changed">): SessionUpdate[] {
    const key = JSON.stringify([document, scope, owner]);
    try {
      this.#values.set(key, applyPatch(this.#values.get(key) ?? this.#initial(document), patch));
    } catch {
      return []; // Changes something this run did not write.
    }
    const value = this.#values.get(key);
    const list = isJsonObject(value) && Array.isArray(value.plan) ? value.plan : undefined;
    if (list === undefined || !patch.some(({ path }) => path === "" || path.startsWith("/plan"))) return [];
    const entries = list.map(entryOf);
    return entries.every((entry) => entry !== undefined) ? [{ sessionUpdate: "plan", entries }] : [];
  }
}

const statuses = ["pending", "in_progress", "completed"] as const;
const priorities = ["high", "medium", "low"] as const;

function entryOf(value: unknown): PlanEntry | undefined {
  if (!isJsonObject(value) || typeof value.content !== "string") return undefined;
  const status = statuses.find((each) => each === value.status);
  const priority = priorities.find((each) => each === value.priority) ?? "medium";
  return status === undefined ? undefined : { content: value.content, status, priority };
}
