import { messageOf, VenturiError } from "../../core/errors/errors.ts";
import type { RunRequest } from "../../core/run/run-request.ts";
import { didYouMean } from "../../core/values/suggest.ts";
import { Egress } from "../../provider/egress/egress.ts";
import type { Config } from "../config/load.ts";

/** The webhook settings that decide whether a run may name it. */
interface Webhook {
  readonly url?: string;
  readonly hosts?: readonly string[];
  readonly allowPrivate: readonly string[];
  readonly tenants?: readonly string[];
}

/** Refuses a webhook that does not exist for the tenant: otherwise nobody would notice the missing calls. */
export function checkNotify({ channels }: Pick<Config, "channels">, { notify }: RunRequest, tenant: string): void {
  if (notify === undefined) return;
  const all = Object.values(channels)
    .filter(({ type }) => type === "channel-time")
    .flatMap(({ options }) => Object.entries((options as { webhooks: Record<string, Webhook> }).webhooks)); // Parsed with its schema.
  const open = all.filter(([, { tenants }]) => tenants?.includes(tenant) ?? true);
  const webhook = open.find(([name]) => name === notify.webhook)?.[1];
  const refuse = (message: string) => new VenturiError("run.start", "invalid_input", message);
  if (webhook === undefined) {
    const names = open.map(([name]) => name);
    throw refuse(`there is no webhook "${notify.webhook}" to notify${didYouMean(notify.webhook, names)}`);
  }
  if (notify.url === undefined && webhook.url === undefined) {
    throw refuse(`the webhook "${notify.webhook}" has no URL of its own; give one with notify.url`);
  }
  if (notify.url === undefined || notify.url === webhook.url) return;
  if (!URL.canParse(notify.url)) throw refuse("notify.url is not a URL");
  try {
    new Egress({ hosts: webhook.hosts ?? [], allowPrivate: webhook.allowPrivate }).check(new URL(notify.url));
  } catch (thrown) {
    throw refuse(`notify.url: ${messageOf(thrown)}`);
  }
}
