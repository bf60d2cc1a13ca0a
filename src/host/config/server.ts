import { availableParallelism } from "node:os";
import { z } from "zod";
import { type Scope, scopes } from "../../core/ports/scopes.ts";
import { shadowTenant } from "../../core/run/shadow.ts";
import { Duration, Size } from "../../core/values/units.ts";
import { KeyOverrides } from "./native-grants.ts";

export interface Listen {
  readonly host: string;
  readonly port: number;
}

const listenHint = "write host:port, such as 127.0.0.1:7070 or [::1]:7070";

const hashOfNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

const defaultMay: Scope[] = ["start", "see", "steer"];
const may = () =>
  z
    .array(z.enum(scopes))
    .prefault(defaultMay)
    .describe(
      "start runs; see them; steer and cancel them; inspect traces and the audit; approve tool calls; read metrics; make and remove schedules.",
    );

/** Refuses the tenant name reserved for shadow runs. */
const ownName = (name: z.ZodString) => name.refine((given) => given !== shadowTenant, "this name is for shadow runs");

export const JwtSettings = z.strictObject({
  issuer: z.string().min(1).describe("The `iss` that tokens carry."),
  audience: z.string().min(1).describe("The `aud` that tokens carry: this service, as the issuer knows it."),
  jwks: z.url({ protocol: /^https?$/ }).describe("Where the issuer publishes its keys."),
  tenant: z
    .string()
    .min(1)
    .optional()
    .describe("Claim with the tenant's name; default: each subject is its own tenant."),
  may: z
    .string()
    .min(1)
    .optional()
    .describe("Claim with the token's permissions, such as `scope`; default: `mayAlways`."),
  mayAlways: may(),
  agents: z.array(z.string()).optional().describe("Agents that tokens may use; default: all."),
  requestsPerMinute: z
    .number()
    .int()
    .positive()
    .optional()
    .describe("Rate limit of each subject; reads (GET, HEAD) do not count."),
  concurrentRuns: z
    .number()
    .int()
    .positive()
    .optional()
    .describe("Runs of each subject at the same time, counted like a key's."),
  overrides: KeyOverrides.prefault({}).describe("Overrides allowed to tokens in addition to the agents' own."),
});

export const Key = z.strictObject({
  id: ownName(z.string().min(1)).describe("Name of the key in logs, never the key itself."),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/i, "expected the SHA-256 of the key as 64 hex digits")
    .refine(
      (hash) => hash.toLowerCase() !== hashOfNothing,
      "this is the SHA-256 of an empty key; was the variable set?",
    )
    .meta({ secret: true })
    .describe("SHA-256 of the key: `printf %s KEY | sha256sum`."),
  tenant: ownName(z.string().min(1).max(128))
    .optional()
    .describe(
      "Owner of its runs, sessions and idempotency keys; default: the key's id. Keys of one tenant share them.",
    ),
  tenants: z
    .literal("all", { error: "write all, or leave it out" })
    .optional()
    .describe(
      "`all`: it also sees the runs of all other tenants, for operators. It can change only those of its own tenant, unless `act` is given.",
    ),
  act: z
    .literal("all", { error: "write all, or leave it out" })
    .optional()
    .describe(
      "`all`, with `tenants: all`: it also answers, steers, forks and erases those runs, as far as `may` allows.",
    ),
  agents: z.array(z.string()).optional().describe("Agents it may use; default: all."),
  may: may(),
  requestsPerMinute: z.number().int().positive().optional().describe("Rate limit; reads (GET, HEAD) do not count."),
  concurrentRuns: z
    .number()
    .int()
    .positive()
    .optional()
    .describe("Runs at the same time: those queued in a session and sub-runs count, parked ones do not."),
  overrides: KeyOverrides.prefault({}).describe("Overrides allowed to the key in addition to the agents' own."),
});

/** A key that may act on runs must also be able to see them. */
function seesWhatItChanges(keys: readonly z.output<typeof Key>[], context: z.core.$RefinementCtx<unknown>): void {
  for (const [index, { act, tenants }] of keys.entries()) {
    if (act === undefined || tenants !== undefined) continue;
    context.addIssue({ code: "custom", path: [index, "act"], message: "needs `tenants: all` beside it" });
  }
}

/** Ids and keys must both be unique, or callers could not be distinguished. */
function noneTwice(keys: readonly z.output<typeof Key>[], context: z.core.$RefinementCtx<unknown>): void {
  for (const field of ["id", "sha256"] as const) {
    const seen = new Set<string>();
    for (const [index, key] of keys.entries()) {
      const value = key[field].toLowerCase();
      const message =
        field === "id" ? `there is another key with the id "${key.id}"` : "there is another id with this key";
      if (seen.has(value)) context.addIssue({ code: "custom", path: [index, field], message });
      seen.add(value);
    }
  }
}

export const ServerSettings = z.strictObject({
  listen: z
    .union([z.number().int().min(0).max(65_535), z.string()], { error: listenHint })
    .transform((value, context) => {
      const listen = parseListen(value);
      if (listen !== undefined) return listen;
      context.addIssue({ code: "custom", message: listenHint });
      return z.NEVER;
    })
    .prefault("127.0.0.1:7070")
    .describe("Address and port; a port alone means 127.0.0.1. Needs a restart."),
  processes: z
    .union([z.literal("auto"), z.number().int().min(1).max(256)], {
      error: "write a number of processes, or auto for one per processor",
    })
    .transform((value) => (value === "auto" ? availableParallelism() : value))
    .prefault(1)
    .describe("Processes that share the port and the journal; `auto` is one per processor. Needs a restart."),
  placement: z
    .enum(["packed", "even"])
    .prefault("packed")
    .describe(
      "Which of several processes take connections. `packed`: the first ones, as many as the load needs; `even`: whichever is idle. Needs a restart.",
    ),
  wedged: Duration.prefault("10s").describe(
    "A process whose event loop is blocked for this long is killed and replaced; the log shows what blocked it. 0: never. Needs a restart.",
  ),
  auth: z
    .strictObject({
      keys: z.array(Key).superRefine(noneTwice).superRefine(seesWhatItChanges).prefault([]).describe("API keys."),
      jwt: JwtSettings.optional().describe("Tokens of an OpenID Connect issuer, in addition to the keys."),
    })
    .optional()
    .describe("Bearer keys and tokens. Required when `listen` is not a loopback address. Needs a restart."),
  cors: z
    .strictObject({
      origins: z.array(z.string()).describe("Origins whose pages may call, such as https://app.example.com."),
    })
    .optional()
    .describe("Calls from browsers; default: none."),
  hosts: z
    .array(z.string())
    .optional()
    .describe("Host names the service accepts, against DNS rebinding; default on loopback: the loopback names."),
  trustProxy: z
    .union([z.boolean(), z.array(z.string())])
    .prefault(false)
    .describe("Trust X-Forwarded-* headers: from anyone (true), or from these addresses."),
});
export type ServerSettings = z.output<typeof ServerSettings>;

export const LimitSettings = z.strictObject({
  body: Size.prefault("32MiB").describe("Maximum size of a request body, which may contain images and files."),
  memory: Size.optional().describe(
    "Memory a process may hold for its callers: bodies, inputs of runs, replies. Above half of it, each tenant gets a fair share, and `unavailable` beyond that. Default: 40 % of the heap limit.",
  ),
  metadata: Size.prefault("16KiB").describe("Maximum size of a run's metadata, in characters."),
  activeRuns: z.number().int().positive().prefault(2000).describe("Maximum concurrent runs in this process."),
  queue: z.number().int().nonnegative().prefault(1000).describe("Maximum queued runs; beyond it `unavailable`."),
  slowReader: Size.prefault("1MiB").describe("Maximum bytes buffered for one slow reader."),
  stalled: Duration.prefault("60s").describe(
    "A reader that consumes nothing for this long is disconnected; it can resume.",
  ),
  keepAlive: Duration.prefault("15s").describe("Silence after which a stream gets a heartbeat."),
  firstOutput: Duration.prefault("50s").describe(
    "How long a stream's status waits for the first output, so that a failure before it has its own status; then 200 and heartbeats. OpenAI and Anthropic clients.",
  ),
  drain: Duration.prefault("25s").describe("How long runs may continue after SIGTERM."),
  afterDrain: z
    .enum(["interrupt", "release"])
    .prefault("interrupt")
    .describe(
      "What to do with runs that are not done by then: end them with `shutting_down`, or release them to another process or the next start.",
    ),
});
export type LimitSettings = z.output<typeof LimitSettings>;

export function parseListen(value: string | number): Listen | undefined {
  const text = String(value);
  if (/^\d+$/.test(text)) return withPort("127.0.0.1", text);
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]*)):(\d+)$/i.exec(text);
  if (match === null) return undefined;
  return withPort(match[1] ?? (match[2] || "0.0.0.0"), match[3] ?? "");
}

function withPort(host: string, text: string): Listen | undefined {
  const port = Number(text);
  return port <= 65_535 ? { host, port } : undefined;
}

export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
