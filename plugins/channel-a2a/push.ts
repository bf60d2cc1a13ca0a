import { endNotifying, type JsonObject, notifiedOf, notifyOf } from "venturi/internal";
import { Journal, type PluginContext } from "venturi/plugin";
import { a2aError, invalidParams } from "./errors.ts";
import type { Options } from "./options.ts";
import type { PushStore } from "./serving.ts";

const tokenHeader = "x-a2a-notification-token";
/** There is one configuration per task. */
const id = "push";

/** Push notifications are webhook deliveries: they survive this process, and go only to hosts the webhook allows. */
export function pushStoreOf({ webhook }: Options, { resolve }: PluginContext): PushStore | undefined {
  const journal = resolve(Journal);
  const { keyValues: values } = journal;
  if (webhook === undefined || values === undefined) return undefined;
  const list = async (run: string): Promise<readonly JsonObject[]> => {
    const { url, headers } = (await notifiedOf(values, webhook, run)) ?? {};
    if (url === undefined) return [];
    const token = headers?.[tokenHeader];
    return [{ id, taskId: run, url, ...(token === undefined ? {} : { token }) }];
  };
  return {
    check: (config) => void receiverOf(config),
    async set(run, config) {
      const { url, headers } = receiverOf(config);
      const { tenant = "" } = (await journal.get(run)) ?? {};
      for (let tries = 0; tries < 5; tries++) {
        if (await notifyOf(values, { webhook, run, tenant, url, headers })) return (await list(run))[0] ?? {};
      }
      throw a2aError("PUSH_NOTIFICATION_NOT_SUPPORTED", "the configuration is changed by somebody else; try again");
    },
    list,
    remove: (run) => endNotifying(values, webhook, run),
  };
}

function receiverOf({ url, token, authentication }: JsonObject): { url: string; headers: Record<string, string> } {
  if (typeof url !== "string" || !URL.canParse(url)) throw invalidParams("url is missing, or no URL");
  if (authentication !== undefined) {
    const message = "credentials of receivers are not kept; use the token, or check the signature of deliveries";
    throw a2aError("PUSH_NOTIFICATION_NOT_SUPPORTED", message);
  }
  return { url, headers: typeof token === "string" && token !== "" ? { [tokenHeader]: headerText(token) } : {} };
}

function headerText(token: string): string {
  if (token.length <= 1_024 && [...token].every((each) => each >= " " && each <= "~")) return token;
  throw invalidParams("token is longer than 1024 characters, or has some that no header can have");
}
