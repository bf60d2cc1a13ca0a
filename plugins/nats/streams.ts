import { failed, unusable } from "./failures.ts";
import type { Names } from "./names.ts";
import type { Store } from "./store.ts";

/** Incremented when older versions would misread messages. */
const format = 1;

interface StreamConfig {
  readonly name: string;
  readonly num_replicas: number;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

const nameInUse = 10058;
/** Too few servers are up, or disks are full: transient. */
const wait: ReadonlySet<number> = new Set([10005, 10023, 10047]);

/** Creates missing streams and checks existing ones. */
export async function prepareStreams(
  op: string,
  store: Store,
  options: { names: Names; replicas: number },
): Promise<void> {
  const { names } = options;
  await Promise.all(streamsOf(options).map((wanted) => prepareStream(op, store, { wanted, names })));
}

async function prepareStream(
  op: string,
  store: Store,
  { wanted, names }: { wanted: StreamConfig; names: Names },
): Promise<void> {
  const { name } = wanted;
  const made = await store.tryApi<{ config: StreamConfig }>(op, `STREAM.CREATE.${name}`, wanted);
  if (!("error" in made)) return compare(op, wanted, made.config);
  const { err_code: code, description } = made.error;
  if (code !== nameInUse)
    throw (wait.has(code) ? failed : unusable)(op, `its stream ${name} cannot be created: ${description}`);
  // Created by an operator with additional settings, such as placement or limits.
  const { config } = await store.api<{ config: StreamConfig }>(op, `STREAM.INFO.${name}`, {});
  const shards = config.metadata?.["venturi.shards"];
  if (shards !== undefined && shards !== String(names.shards))
    throw unusable(
      op,
      `space ${names.space} has ${shards} shards, not ${names.shards}; that is set once, when it is made`,
    );
  compare(op, wanted, config);
}

/** Refuses a stream that retains less than required, or lets others remove messages. */
function compare(op: string, wanted: StreamConfig, found: StreamConfig): void {
  const { name } = wanted;
  const version = Number(found.metadata?.["venturi.format"] ?? format);
  if (version > format) throw unusable(op, `its stream ${name} was written by a newer Venturi (format ${version})`);
  if (found.num_replicas < wanted.num_replicas)
    throw unusable(op, `its stream ${name} has ${found.num_replicas} replicas, not ${wanted.num_replicas}`);
  for (const field of ["retention", "storage", "discard", "allow_atomic", "allow_direct", "max_msgs_per_subject"]) {
    if (field in wanted && found[field] !== wanted[field])
      throw unusable(op, `its stream ${name} has ${field}: ${String(found[field])}, not ${String(wanted[field])}`);
  }
  if (found.persist_mode === "async") throw unusable(op, `its stream ${name} has persist_mode: async`);
  for (const field of ["max_age", "max_msgs"]) {
    if (Number(found[field] ?? 0) > 0) throw unusable(op, `its stream ${name} has ${field}; Venturi prunes by itself`);
  }
}

function streamsOf({ names, replicas }: { names: Names; replicas: number }): StreamConfig[] {
  const common = {
    num_replicas: replicas,
    storage: "file",
    retention: "limits",
    discard: "new",
    allow_direct: true,
    allow_atomic: true,
    deny_delete: true,
    metadata: { "venturi.format": String(format), "venturi.shards": String(names.shards) },
  };
  const shards = Array.from({ length: names.shards }, (_, shard) => ({
    ...common,
    name: names.stream(shard),
    subjects: [names.runs(shard, "*")],
    republish: { src: names.runs(shard, "*"), dest: names.liveOf(shard) },
  }));
  // Only the last message under a subject counts; heartbeats of dead workers expire.
  const index = { ...common, discard: "old", max_msgs_per_subject: 1, allow_msg_ttl: true };
  return [
    ...shards,
    { ...index, name: names.index, subjects: [`v.${names.space}.i.>`] },
    { ...common, name: names.audits, subjects: [`v.${names.space}.a.*.*.*`], deny_purge: true },
    { ...common, name: names.wires, subjects: [`v.${names.space}.w.*`, `v.${names.space}.b.>`] },
  ];
}
