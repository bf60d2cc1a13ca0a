import { headerSecrets, redactor } from "venturi/internal";
import { definePlugin, defineTool, fromToolOptions, messageOf, VenturiError } from "venturi/plugin";
import { z } from "zod";
import { callAgent } from "./call.ts";
import { Options } from "./options.ts";
import { Remote } from "./remote.ts";

const patience = 15_000;

export default definePlugin({
  name: "a2a",
  kind: "tool",
  description: "An agent of another service as a tool, over Agent2Agent",
  options: Options,
  async create(options, context) {
    const remote = new Remote(options);
    const card = await remote.card(AbortSignal.timeout(patience)).catch((thrown: unknown) => {
      if (!options.optional) throw thrown;
      context.log.warn("an agent of another service is not known yet", {
        tool: context.name,
        error: messageOf(thrown),
      });
      return undefined;
    });
    const described = options.description ?? card?.description ?? "";
    const redact = redactor(headerSecrets(options.headers));
    const tool = defineTool({
      ...fromToolOptions(options),
      name: context.name,
      description:
        described === ""
          ? `Gives a task to the agent "${card?.name ?? context.name}" and answers with its result.`
          : described,
      input: z.strictObject({
        task: z.string().min(1).describe("the whole task; the agent sees nothing else of this conversation"),
        data: z.record(z.string(), z.unknown()).optional().describe("values that go with it"),
      }),
      effect: options.effect,
      resumable: true,
      spanAttributes: () => ({ "server.address": new URL(options.url).hostname }),
      call: async (input, call) => {
        try {
          return await callAgent(remote, input, { context: call, name: context.name, options });
        } catch (thrown) {
          const { op, code, message } = VenturiError.isInstance(thrown)
            ? thrown
            : new VenturiError("tool.call", "tool_failed", messageOf(thrown));
          throw new VenturiError(op, code, redact(message));
        }
      },
    });
    return { ...tool, close: () => remote.close() };
  },
});
