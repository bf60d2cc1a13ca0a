/** The face for programs that hold agents in their own process. */
import { Agent } from "./host/agent.ts";
import { type Host, type OpenOptions, openHost } from "./host/open.ts";

export { codes } from "./core/codes.ts";
export { VenturiError } from "./core/errors.ts";
export type { RunEvent, RunInput } from "./core/events.ts";
export type { RunRequest } from "./core/journal.ts";
export type { Message, Part } from "./core/messages.ts";
export type { Runs } from "./core/runs.ts";
export * from "./host/agent.ts";

export interface Venturi extends Pick<Host, "runs" | "reload" | "close"> {
  agent(name: string): Agent;
}

/** Opens the config's plugins, journal and agents in this process, without a server. */
export async function openVenturi(options: OpenOptions): Promise<Venturi> {
  const host = await openHost(options);
  return {
    runs: host.runs,
    reload: host.reload,
    close: host.close,
    agent: (name) => new Agent(name, host.runs),
  };
}
