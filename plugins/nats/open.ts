import { randomUUID } from "node:crypto";
import type { NatsConnection, NodeConnectionOptions } from "@nats-io/transport-node";
import { type CredentialOptions, type Login, readCredentials } from "./credentials.ts";
import { checkDurability, checkVersion } from "./durability.ts";
import { NatsJournal } from "./journal.ts";
import { Link } from "./link.ts";
import { Names } from "./names.ts";
import { Store } from "./store.ts";
import { prepareStreams } from "./streams.ts";

export interface OpenOptions extends CredentialOptions {
  readonly space: string;
  readonly replicas: number;
  readonly shards: number;
  readonly lease: number;
  readonly timeout: number;
  readonly requestTimeout: number;
  readonly connectTimeout?: number;
  readonly durability: "checked" | "unchecked";
  readonly monitors?: readonly string[];
  readonly system?: Login | undefined;
  readonly domain?: string | undefined;
}

/** `folder`: base of relative file paths. */
export async function openNats(options: OpenOptions, folder = "."): Promise<NatsJournal> {
  const inbox = `_INBOX.${randomUUID().replaceAll("-", "")}`;
  const connect = await connector(options, await readCredentials(options, folder));
  const system =
    options.system &&
    (await readCredentials({ ...options.system, servers: options.servers, tls: options.tls }, folder));
  const link = new Link({ ...options, connect, inbox });
  const store = new Store(link, options.domain);
  const names = new Names(options.space, options.shards);
  let prepared: Promise<void> | undefined;
  const prepare = async (op: string) => {
    const { info } = await link.connection(op);
    checkVersion(op, info?.server_name ?? "its server", info?.version ?? "0");
    if (options.durability === "checked") {
      const monitors = options.monitors ?? [];
      await checkDurability(op, { monitors, system: system && (await connector(options, system)) });
    }
    await prepareStreams(op, store, { names, replicas: options.replicas });
  };
  const ready = (op: string): Promise<void> => {
    prepared ??= prepare(op).catch((thrown: unknown) => {
      prepared = undefined;
      throw thrown;
    });
    return prepared;
  };
  return new NatsJournal(store, names, {
    lease: options.lease,
    replicas: options.replicas,
    domain: options.domain,
    ready,
  });
}

async function connector(
  { servers, connectTimeout = 5_000 }: OpenOptions,
  credentials: Partial<NodeConnectionOptions>,
): Promise<() => Promise<NatsConnection>> {
  const { connect } = await import("@nats-io/transport-node");
  return () =>
    connect({
      servers: [...servers],
      name: "venturi",
      maxReconnectAttempts: -1,
      reconnectTimeWait: 100,
      reconnectJitter: 50,
      reconnectJitterTLS: 100,
      pingInterval: 5_000,
      maxPingOut: 2,
      timeout: connectTimeout,
      ...credentials,
    });
}
