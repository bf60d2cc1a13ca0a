import { named, scopes } from "venturi/internal";
import type { ChannelHost, ZodRoutes } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { z } from "zod";
import { examples } from "./examples.ts";
import { Failure } from "./view.ts";

/** `GET /v1/me`: the key's owner and permissions. */
export function mountMe(host: ChannelHost<FastifyInstance>): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  server.get("/v1/me", { schema }, async (request) => {
    const { id, tenant, tenants, act, agents } = host.caller(request);
    return {
      id,
      tenant,
      ...(tenants === undefined ? {} : { tenants }),
      ...(act === undefined ? {} : { act }),
      ...(agents === undefined ? {} : { agents }),
      may: host.scopes(request),
    };
  });
}

const MeView = named(
  "MeView",
  z.object({
    id: z.string(),
    tenant: z.string(),
    tenants: z.literal("all").optional().describe("it sees the runs of all tenants"),
    act: z.literal("all").optional().describe("it may change, answer, fork and remove them too, as `may` allows"),
    agents: z.array(z.string()).optional().describe("the agents it may use; all when absent"),
    may: z.array(z.enum(scopes)),
  }),
);

const schema = {
  summary: "The key: its id, tenant, agents and scopes",
  tags: ["operations"],
  response: {
    200: MeView.meta({ examples: [examples.me] }),
    "4XX": Failure,
  },
};
