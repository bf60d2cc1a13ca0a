import "reflect-metadata";
import { container, type DependencyContainer, Lifecycle } from "tsyringe";
import { Clock } from "../../core/clock.ts";
import { Journal } from "../../core/journal.ts";
import { Log } from "../../core/log.ts";
import { Telemetry } from "../../core/telemetry.ts";
import { Config } from "../config/load.ts";
import { Instances, RunsLater } from "./instances.ts";
import { ConfigRevision } from "./revision.ts";
import { OpenRevision, Revisions } from "./revisions.ts";

export interface HostParts {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly runs: RunsLater;
}

/** The composition root: the one file that registers. What stands here lives as long as the process. */
export function hostContainer(parts: HostParts): DependencyContainer {
  const host = container.createChildContainer();
  host.register(Config, { useValue: parts.config });
  host.register(Log, { useValue: parts.log });
  host.register(Clock, { useValue: parts.clock });
  host.register(Telemetry, { useValue: parts.telemetry });
  host.register(RunsLater, { useValue: parts.runs });
  host.register(Instances, Instances, { lifecycle: Lifecycle.ContainerScoped });
  host.register(ConfigRevision, ConfigRevision, { lifecycle: Lifecycle.ContainerScoped });
  host.register(OpenRevision, { useValue: (config: Config) => openRevision(host, config) });
  host.register(Revisions, Revisions, { lifecycle: Lifecycle.ContainerScoped });
  return host;
}

/** The journal is a plugin: it is known only once its instance is made. */
export function provideJournal(host: DependencyContainer, journal: Journal): void {
  host.register(Journal, { useValue: journal });
}

/** What stands in a child container lives as long as its revision. */
function openRevision(host: DependencyContainer, config: Config): Promise<ConfigRevision> {
  const child = host.createChildContainer();
  child.register(Config, { useValue: config });
  return child.resolve(ConfigRevision).open();
}
