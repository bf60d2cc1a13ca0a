import type { Command } from "commander";
import { VenturiError } from "../core/errors/errors.ts";
import { example } from "./globals.ts";
import { forOneLine, show, showJson } from "./screen.ts";
import { addServiceOptions, askService, type ServiceOptions } from "./service-client.ts";

interface Options extends ServiceOptions {
  readonly json?: true;
  readonly replay?: true;
  readonly drop?: true;
}

interface View {
  readonly name: string;
  readonly url?: string;
  readonly events: readonly string[];
  readonly delivered?: number;
  readonly waiting?: number;
  readonly dead?: number;
  readonly error?: string;
}

interface Letter {
  readonly id: string;
  readonly run: string;
  readonly type: string;
  readonly attempts: number;
  readonly error: string;
  readonly at: string;
}

/** `venturi webhooks`: lists webhooks; with a name, the failed deliveries, which it can resend or drop. */
export function configure(command: Command): void {
  addServiceOptions(
    command
      .argument("[name]", "list the failed deliveries of this webhook")
      .argument("[ids...]", "failed deliveries to resend or drop (default with --replay: all)"),
  )
    .option("--replay", "resend failed deliveries")
    .option("--drop", "drop the named deliveries")
    .option("--json", "print one JSON line each")
    .addHelpText("after", example("venturi webhooks", "venturi webhooks crm", "venturi webhooks crm --replay"))
    .action(async (name: string | undefined, ids: string[], options: Options) => {
      if (options.replay && options.drop) throw wrong("one of --replay and --drop");
      if (name === undefined && (options.replay || options.drop)) throw wrong("name the webhook");
      if (name === undefined) return await list(command, options);
      const path = `/v1/webhooks/${encodeURIComponent(name)}`;
      if (options.replay) {
        const body = ids.length === 0 ? {} : { ids };
        const { replayed } = await askService<{ replayed: number }>(command, {
          ...options,
          path: `${path}/replay`,
          body,
        });
        return show(process.stdout, `${replayed} sent again\n`);
      }
      if (!options.drop) return await letters(command, path, options);
      if (ids.length === 0) throw wrong("name the dead letters to forget");
      for (const id of ids) {
        await askService(command, { ...options, path: `${path}/dead/${encodeURIComponent(id)}`, method: "DELETE" });
      }
      show(process.stdout, `${ids.length} forgotten\n`);
    });
}

const wrong = (message: string): VenturiError => new VenturiError("cli.webhooks", "invalid_input", message);

async function list(command: Command, options: Options): Promise<void> {
  const { webhooks } = await askService<{ webhooks: View[] }>(command, { ...options, path: "/v1/webhooks" });
  if (webhooks.length === 0 && !options.json) show(process.stderr, "no webhooks\n");
  for (const webhook of webhooks) {
    if (options.json) showJson(process.stdout, JSON.stringify(webhook));
    else show(process.stdout, `${forOneLine(lineOf(webhook))}\n`);
  }
}

async function letters(command: Command, path: string, options: Options): Promise<void> {
  let cursor: string | undefined;
  let count = 0;
  do {
    const query = cursor === undefined ? "" : `?cursor=${encodeURIComponent(cursor)}`;
    const page = await askService<{ letters: Letter[]; cursor?: string }>(command, {
      ...options,
      path: `${path}/dead${query}`,
    });
    for (const letter of page.letters) {
      const { id, run, type, attempts, error, at } = letter;
      if (options.json) showJson(process.stdout, JSON.stringify(letter));
      else show(process.stdout, `${forOneLine(`${id}  ${type}  ${run}  ${at}  ${attempts} tries: ${error}`)}\n`);
    }
    count += page.letters.length;
    cursor = page.cursor;
  } while (cursor !== undefined);
  if (count === 0 && !options.json) show(process.stderr, "no dead letters\n");
}

function lineOf({ name, url, events, delivered, waiting, dead, error }: View): string {
  const figures = delivered === undefined ? "" : `  ${delivered} delivered, ${waiting} waiting, ${dead} dead`;
  return `${name}  ${url ?? "URLs of runs"}  ${events.join(", ")}${figures}${error === undefined ? "" : `  (last failure: ${error})`}`;
}
