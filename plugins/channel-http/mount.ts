import { type ChannelHost, Journal, MemoryRegistry, type PluginContext } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { mountAgents } from "./agents.ts";
import { mountApprovals } from "./approvals.ts";
import { mountDatasets } from "./datasets.ts";
import { mountErase } from "./erase.ts";
import { mountFeed } from "./feed.ts";
import { mountFeedback } from "./feedback.ts";
import { mountFollow } from "./follow.ts";
import { mountFork } from "./fork.ts";
import { mountMe } from "./me.ts";
import { mountMemory } from "./memory.ts";
import { mountNotes } from "./notes.ts";
import type { Options } from "./options.ts";
import { mountPrompts } from "./prompts.ts";
import { mountService } from "./service.ts";
import { mountSessions } from "./sessions.ts";
import { mountSignals } from "./signals.ts";
import { mountStart } from "./start.ts";
import { mountState } from "./state.ts";
import { mountUsage } from "./usage.ts";
import { mountWhy } from "./why.ts";
import { mountWires } from "./wires.ts";

interface Given {
  readonly options: Options;
  readonly resolve: PluginContext["resolve"];
}

/** Loaded when the service listens: other commands need the options alone. */
export function mount(host: ChannelHost<FastifyInstance>, { options, resolve }: Given): void {
  const journal = () => resolve(Journal);
  mountStart(host, options);
  mountFollow(host);
  mountFeed(host);
  mountState(host);
  mountAgents(host);
  mountFork(host);
  mountFeedback(host);
  mountDatasets(host);
  mountApprovals(host);
  mountWhy(host);
  mountSignals(host);
  mountSessions(host);
  const memories = () => resolve(MemoryRegistry);
  mountErase(host, { journal, memories });
  mountMemory(host, { journal, memories });
  mountNotes(host, memories);
  mountMe(host);
  mountService(host);
  mountPrompts(host);
  mountWires(host);
  mountUsage(host);
}
