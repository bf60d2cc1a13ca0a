import { createHash } from "node:crypto";
import type { RunEvent } from "../../src/core/run/events.ts";
import { Client } from "./client.ts";
import { Coverage } from "./coverage.ts";
import type { Decisions } from "./decisions.ts";
import { Rollout } from "./deployment.ts";
import { Engine, storeLease } from "./engine.ts";
import { Ledger } from "./ledger.ts";
import { boot, type Server } from "./process.ts";
import { type Profile, profileOf } from "./profile.ts";
import { Recollection } from "./recollection.ts";
import { Requests } from "./requests.ts";
import { DiskJournal } from "./sqlite/store.ts";
import { checkStored } from "./stored.ts";
import { Timetable } from "./timetable.ts";
import { checkTold } from "./told.ts";
import { Watcher } from "./watcher.ts";
import { calmAt, epoch, World } from "./world.ts";

export interface History {
  readonly violations: readonly string[];
  readonly profile: Profile;
  readonly coverage: Coverage;
  readonly decisions: readonly number[];
  readonly trace: readonly string[];
  readonly events: ReadonlyMap<string, readonly RunEvent[]>;
  readonly runs: number;
  readonly steps: number;
  readonly virtualMs: number;
  /** Of everything that happened and everything that is stored. */
  readonly hash: () => string;
}

/** Every run has to end before, ms. */
const overAt = 900_000;

/** One history: processes, clients and faults as the decisions have it, then the checks. */
export async function history(
  decisions: Decisions,
  options: { trace?: boolean; most?: number; store?: "memory" | "sqlite" } = {},
): Promise<History> {
  const world = new World(decisions, options);
  const drawn = profileOf(decisions);
  // What comes from a file are other objects.
  const profile = options.store === "sqlite" ? { ...drawn, apart: true, sync: false } : drawn;
  const coverage = new Coverage();
  const sqlite =
    options.store === "sqlite"
      ? await DiskJournal.open({
          lease: storeLease,
          now: () => world.now,
          checkpoint: decisions.pick([2_000, 1, 10, 50]),
        })
      : undefined;
  const engine = new Engine(world, profile, coverage, sqlite === undefined ? {} : { sqlite });
  const ledger = new Ledger(engine);
  const requests = new Requests(engine);
  const recollection = new Recollection(engine);
  const timetable = new Timetable(engine);
  const slots: (Server | undefined)[] = [];
  const numbers: number[] = [];
  const servers = () => slots.filter((server): server is Server => server !== undefined && !server.life.dead);
  const rollout = new Rollout(engine, servers);
  world.note(`profile ${JSON.stringify(profile)}`);
  if (profile.wire !== undefined) coverage.count(`wire: ${profile.wire}`);

  const waiting: (() => void)[] = [];
  const booted = () => new Promise<void>((resolve) => waiting.push(resolve));
  const start = (slot: number) => {
    numbers[slot] = (numbers[slot] ?? -1) + 1;
    slots[slot] = boot(engine, { ledger, requests, recollection, timetable, rollout }, { slot, number: numbers[slot] });
    for (const tell of waiting.splice(0)) tell();
  };
  const end = (server: Server) => {
    server.life.kill();
    const ms = engine.calm ? 100 : decisions.below(15_000);
    world.later(undefined, `restart of ${server.slot}`, ms, () => start(server.slot));
  };
  /** Those that may be ended. */
  const mortal = () => (profile.isFirstWeak ? servers().filter(({ slot }) => slot === 0) : servers());
  /** It goes on without the store: others take over its runs, and then what it has sent arrives. */
  const cutOff = ({ life }: Server) => {
    world.note(`cut off ${life.name}`);
    coverage.count("cut off");
    engine.cutOff.add(life);
    world.later(life, "reaches the store again", decisions.between(8_000, 25_000), () => engine.cutOff.delete(life));
  };
  const crash = () => {
    const up = mortal();
    if (up.length === 0 || engine.calm) return;
    const server = decisions.pick(up);
    if (profile.late > 0 && decisions.chance(0.5)) return cutOff(server);
    world.note(`crash ${server.life.name}`);
    coverage.fault("crash", "process");
    coverage.count("crash");
    end(server);
  };
  const drain = () => {
    const up = mortal();
    if (up.length === 0 || engine.calm) return;
    const server = decisions.pick(up);
    slots[server.slot] = undefined;
    world.note(`drain ${server.life.name}`);
    coverage.count("drain");
    const over = () => server.life.dead || end(server);
    const leave = async () => {
      await server.stop().catch(() => {});
      await server.runs.drain(decisions.chance(0.5) ? 0 : decisions.below(3_000), "release").catch(() => {});
      await server.runs.close().catch(() => {});
      world.later(undefined, `exit of ${server.life.name}`, 0, over);
    };
    void leave();
  };

  for (let slot = 0; slot < profile.workers; slot++) start(slot);
  for (let count = 0; count < profile.crashes; count++) world.later(undefined, "crash", decisions.below(20_000), crash);
  for (let count = 0; count < profile.drains; count++)
    world.later(undefined, "drain", decisions.below(decisions.chance(0.5) ? 2_000 : 20_000), drain);
  if (profile.fullDisk > 0) {
    world.later(undefined, "the disk is full", decisions.below(10_000), () => {
      engine.full = true;
      if (sqlite !== undefined) sqlite.disk.full = true;
      world.later(undefined, "the disk has room", profile.fullDisk, () => {
        engine.full = false;
        if (sqlite !== undefined) sqlite.disk.full = false;
      });
    });
  }
  if (sqlite !== undefined) losePower(engine, sqlite, { servers, end });
  world.later(undefined, "calm", calmAt, () => {
    engine.calm = true;
    rollout.complete(servers());
    if (sqlite !== undefined) sqlite.disk.full = false;
  });
  const clients = Array.from(
    { length: profile.runs },
    (_, at) =>
      new Client({ engine, ledger, servers, booted }, `client${at}`, {
        session: `s${at % Math.ceil(profile.runs / 4)}`,
        tenant: tenantOf(Math.floor(at / Math.ceil(profile.runs / 4)) % profile.tenants),
      }),
  );
  let open = clients.length;
  for (const client of clients)
    client.live().then(
      () => (open -= 1),
      (thrown: Error) => world.violated(`a client failed: ${thrown.stack}`),
    );
  // Some come while others read already, and have heard of runs that wait.
  const count = profile.watched ? decisions.pick([1, 3, 4]) : 0;
  const watchers = Array.from({ length: count }, () => new Watcher({ engine, ledger, servers, booted }, count === 1));
  for (const watcher of watchers)
    watcher.live().catch((thrown: Error) => world.violated(`a watcher failed: ${thrown.stack}`));
  const isOver = () => world.now > epoch + overAt;
  await world.run(() => open === 0 || isOver(), options.most ?? 200_000);
  if (world.violations.length === 0 && !timetable.isDone) {
    engine.calm = true;
    const until = world.now + 180_000;
    await world.run(() => world.now > until || timetable.isDone, world.steps + 60_000);
  }
  if (world.violations.length === 0) {
    for (const { done } of clients) if (!done) world.violated("a client waits for ever");
    timetable.check();
    checkStored(engine, clients, { recollection, isScheduled: (run) => timetable.hasStarted(run) });
    await engine.spending.check();
    checkTold(engine);
    timetable.close();
    for (const server of servers()) server.stop().catch(() => {});
  }
  if (world.violations.length === 0 && count > 0) {
    engine.calm = true;
    // An answer that is on its way may take 15 s, and so may its request.
    const known = world.now;
    const until = known + (profile.slow > 0 ? 40_000 : 8_000);
    await world.run(() => world.now > until, world.steps + 20_000);
    if (world.violations.length === 0) for (const watcher of watchers) watcher.leave(known);
  }
  // Not always: it costs as many steps as the runs themselves.
  if (world.violations.length === 0 && decisions.chance(0.1)) await quiet(engine, servers);
  for (const server of slots) server?.life.kill();
  const hash = () => {
    const hashed = createHash("sha256").update(String(world.hash));
    for (const line of world.trace ?? []) hashed.update(line);
    for (const events of engine.events.values()) for (const event of events) hashed.update(JSON.stringify(event));
    return hashed.digest("hex");
  };
  return {
    violations: world.violations,
    profile,
    coverage,
    decisions: decisions.log,
    trace: world.trace ?? [],
    events: engine.events,
    runs: engine.events.size,
    steps: world.steps,
    virtualMs: world.now - epoch,
    hash,
  };
}

/** Others have sessions of the same names. */
const tenantOf = (number: number): string => (number === 0 ? "default" : `tenant${number}`);

/** The machine with all its processes goes down between two writes of its disk, and comes up again. */
function losePower(
  engine: Engine,
  sqlite: DiskJournal,
  { servers, end }: { servers: () => readonly Server[]; end: (server: Server) => void },
): void {
  const { world } = engine;
  const { decisions } = world;
  engine.power.onLoss = () =>
    // Until then its processes may still see that nothing can be written.
    world.later(undefined, "the machine is off", 0, () => {
      for (const server of servers()) end(server);
      engine.power
        .restart(sqlite)
        .catch((thrown: Error) => world.violated(`the store could not be opened: ${thrown.stack}`));
    });
  for (let left = decisions.below(4); left > 0; left--)
    world.later(undefined, "the power will be lost", decisions.below(20_000), () => {
      if (!engine.calm) sqlite.disk.loseAfter(decisions.below(40));
    });
}

/** With nothing left to do, a process holds no runs, readers or bytes. */
async function quiet(engine: Engine, servers: () => readonly Server[]): Promise<void> {
  const { world, events } = engine;
  engine.calm = true;
  const orphans = [...events.keys()].filter((run) => !engine.isEnded(run)).length;
  const until = world.now + 25_000;
  const most = world.steps + 20_000;
  await world.run(() => world.now > until, most);
  for (const { life, runs, memory } of servers()) {
    if (runs.active > orphans) world.violated(`${life.name} still executes ${runs.active} runs`);
    if (runs.followers > 0) world.violated(`${life.name} still has ${runs.followers} readers`);
    if (memory.held > 0 && orphans === 0) world.violated(`${life.name} still holds ${memory.held} bytes`);
  }
}
