import type { Command } from "commander";
import { VenturiError } from "../core/errors/errors.ts";
import { openHost } from "../host/open.ts";
import { example, globalsOrBox } from "./globals.ts";
import { quietly } from "./quiet.ts";
import { show } from "./screen.ts";

/** `venturi acp`: serves the agents to an editor that starts this program, over stdin and stdout. */
export function configure(command: Command): void {
  command
    .argument("[agent]", "agent for new sessions (default: the first in the configuration)")
    .addHelpText("after", example("venturi acp", "venturi acp coder --config venturi.yaml"))
    .action(async (agent: string | undefined) => {
      const { config, set } = globalsOrBox(command);
      const host = await openHost({ configFile: config, set: quietly(set) });
      try {
        const names = host.runs.agents().map(({ name }) => name);
        const first = agent ?? names[0];
        if (first === undefined || !names.includes(first)) {
          const message = `there is no agent "${first ?? ""}"; the agents are: ${names.join(", ")}`;
          throw new VenturiError("cli.acp", "not_found", message);
        }
        const { serveAcp } = await import("./acp/serve.ts");
        await serveAcp(host, { first, tell: (line) => show(process.stderr, `${line}\n`) });
      } finally {
        await host.close();
      }
    });
}
