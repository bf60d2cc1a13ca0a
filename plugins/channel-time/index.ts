import { type Channel, definePlugin, Journal, VenturiError } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { mountInbound } from "./inbound.ts";
import { Options, problemsIn } from "./options.ts";
import { mountSchedules } from "./schedule-routes.ts";
import { Scheduler } from "./scheduler.ts";
import { mountWebhooks } from "./webhook-routes.ts";
import { Webhooks } from "./webhooks.ts";

export default definePlugin({
  name: "channel-time",
  kind: "channel",
  description: "Schedules, webhooks, and runs that other systems start",
  options: Options,
  check: (options, { agents }) => problemsIn(options, agents),
  create(options, { clock, log, runs, resolve }): Channel<FastifyInstance> & { close(): Promise<void> } {
    const journal = resolve(Journal);
    const { keyValues: values } = journal;
    if (values === undefined) {
      const message = "schedules and webhooks need a journal with key values; this one has none";
      throw new VenturiError("channel.create", "plugin_failed", message);
    }
    const shared = { clock, log, runs, journal, values };
    const scheduler = new Scheduler({ ...shared, config: options.schedules });
    const webhooks = new Webhooks({ ...shared, config: options.webhooks });
    let isMounted = false;
    return {
      async mount(host) {
        const names = Object.keys(options.webhooks);
        mountSchedules(host, { scheduler, now: () => clock.now(), webhooks: names });
        mountWebhooks(host, { webhooks, config: options.webhooks });
        mountInbound(host, { clock, runs, config: options.hooks });
        if (isMounted) return;
        isMounted = true;
        scheduler.start();
        if (names.length > 0) await webhooks.start();
      },
      async close() {
        await Promise.all([scheduler.stop(), webhooks.stop()]);
      },
    };
  },
});
