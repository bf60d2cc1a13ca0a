import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Replica } from "../chaos/replica.ts";
import { type Store, type StoreName, startStore } from "./store.ts";

export const tenants = ["open", "capped"] as const;
export type Tenant = (typeof tenants)[number];
export const users = ["ada", "bob", "eve"] as const;
export const agents = ["shop", "flaky", "routed"] as const;

/** What one generation of a scenario costs, USD: more than is set aside for it until its size has been learned. */
const prices = { "demo/*": { input: 10, output: 50 }, "spare/*": { input: 1, output: 5 } };
export const limits = { capped: 4, eve: 30_000, run: 0.2 };

export const keyOf = (name: string): string => `key-of-${name}-for-tests`;
const entry = (id: string, more: object) => ({
  id,
  sha256: createHash("sha256").update(keyOf(id)).digest("hex"),
  ...more,
});

const usage = { inputTokens: 400, outputTokens: 1_500 };
const words = (count: number) => Array.from({ length: count }, (_, n) => `w${n} `);
const turn = (more: object) => ({ text: words(12), usage, ...more });
const scenarios = [
  { name: "plain", match: { text: "plain" }, turns: [turn({ text: words(40) })] },
  {
    name: "tools",
    match: { text: "tools" },
    turns: [
      turn({ calls: [{ name: "look", arguments: { n: 1 } }] }),
      turn({ calls: [{ name: "look", arguments: { n: 2 } }] }),
      turn({ calls: [{ name: "look", arguments: { n: 3 } }] }),
      turn({}),
    ],
  },
];

const sections = {
  providers: {
    demo: { type: "simulator", pace: 10, scenarios },
    spare: { type: "simulator", pace: 10, scenarios },
  },
  prices,
  models: {
    steady: { chain: ["demo/shop"] },
    // The first often breaks off in the middle of its answer, or refuses.
    flaky: {
      chain: ["demo/shop!reset@1500~0.5,rate-limit=50~0.2", "spare/shop"],
      failover: "retract",
      retry: { max: 1 },
    },
    // Members that are silent, refuse or break off at times, and have few places.
    routed: {
      chain: ["demo/one!first=1500~0.4", "spare/two!reset@1500~0.3,rate-limit=50~0.2", "demo/three"],
      choose: "weighted",
      members: { "demo/one!first=1500~0.4": { weight: 3, concurrency: 2 }, "demo/three": { tokensPerMinute: 1000000 } },
      hedge: { after: "300ms" },
      failover: "retract",
      retry: { max: 1 },
    },
  },
  agents: {
    routed: { model: "routed", tools: ["look"] },
    shop: { model: "steady", tools: ["look"] },
    flaky: { model: "flaky", tools: ["look"] },
  },
  budgets: {
    capped: { of: "tenant", only: "capped", usd: limits.capped, per: "month" },
    eve: { of: "user", only: "open/eve", tokens: limits.eve, per: "month", onExceed: "finish" },
    runs: { of: "run", usd: limits.run, per: "run", onExceed: "finish" },
  },
};

export interface Service {
  readonly store: Store;
  readonly replicas: readonly Replica[];
  close(): Promise<void>;
}

/** Three replicas of the real service on one store. */
export async function startService(engine: StoreName): Promise<Service> {
  const folder = mkdtempSync(join(tmpdir(), "venturi-money-"));
  const store = await startStore(engine);
  const replicas: Replica[] = [];
  const close = async () => {
    await Promise.all(replicas.map((replica) => replica.kill()));
    await store.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const effects = join(folder, "effects");
    writeFileSync(effects, "");
    const may = ["start", "see", "steer", "inspect"];
    const keys = [
      ...tenants.map((tenant) => entry(tenant, { tenant, may })),
      entry("operator", { tenants: "all", may }),
    ];
    const options = { folder, effects, journal: store.config, toolTime: 20, auth: { keys }, sections };
    for (const index of [0, 1, 2]) replicas.push(await Replica.make(`replica-${index}`, options));
    await Promise.all(replicas.map((replica) => replica.start()));
    return { store, replicas, close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}
