import { type Host, type OpenOptions, openHost } from "../host/open.ts";
import { NamedAgent } from "./named-agent.ts";

export interface Opened extends Pick<Host, "runs" | "reload" | "close"> {
  agent(name: string): NamedAgent;
}

/** What `openVenturi` loads and calls. */
export async function open(options: OpenOptions): Promise<Opened> {
  const host = await openHost(options);
  return {
    runs: host.runs,
    reload: host.reload,
    close: host.close,
    agent: (name) => new NamedAgent(name, host.runs),
  };
}
