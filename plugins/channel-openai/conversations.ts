import { randomBytes } from "node:crypto";
import { type ChannelHost, type RunRow, type Runs, VenturiError, type ZodRoutes } from "venturi/plugin";
import type { FastifyInstance, FastifyRequest } from "venturi/plugin/channel";
import { asRecord } from "venturi/plugin/provider";
import { z } from "zod";
import { withFiles } from "./files.ts";
import { inputItems, itemPage, type Item as Listed, Page } from "./responses-input.ts";
import { Item, toMessages } from "./responses-items.ts";
import { readResponse } from "./responses-stored.ts";

const Id = z.object({ id: z.string() });
const ItemId = z.object({ id: z.string(), item: z.string() });
const Created = z.looseObject({
  items: z.array(Item).nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
});
const tags = ["openai"];

/** Conversations are sessions: adding items is a run that calls no model. */
export function mountConversations(host: ChannelHost<FastifyInstance>): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  const runsFor = (request: FastifyRequest) => host.runsFor(request);
  const create = { summary: "A new conversation", tags, body: Created };
  server.post("/conversations", { schema: create }, async (request) => {
    const id = `conv_${randomBytes(24).toString("hex")}`;
    await remember(runsFor(request), {
      session: id,
      items: await withFiles(request.body.items ?? [], () => runsFor(request), host.limits.body),
      metadata: request.body.metadata ?? {},
    });
    return conversation(id, await rowsOf(runsFor(request), id));
  });
  server.get("/conversations/:id", { schema: { summary: "A conversation", tags, params: Id } }, async (request) =>
    conversation(request.params.id, await rowsOf(runsFor(request), request.params.id)),
  );
  const update = { summary: "New metadata for a conversation", tags, params: Id, body: Created };
  server.post("/conversations/:id", { schema: update }, async (request) => {
    const { id } = request.params;
    await rowsOf(runsFor(request), id);
    await remember(runsFor(request), { session: id, items: [], metadata: request.body.metadata ?? {} });
    return conversation(id, await rowsOf(runsFor(request), id));
  });
  server.delete(
    "/conversations/:id",
    { schema: { summary: "Removes a conversation", tags, params: Id } },
    async (request) => {
      const { id } = request.params;
      const runs = runsFor(request);
      for (const { run } of await rowsOf(runs, id)) await runs.remove(run);
      return { id, object: "conversation.deleted", deleted: true };
    },
  );
  mountItems(host);
}

function mountItems(host: ChannelHost<FastifyInstance>): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  const list = { summary: "The items of a conversation", tags, params: Id, querystring: Page };
  server.get("/conversations/:id/items", { schema: list }, async (request) =>
    itemPage(await itemsOf(host.runsFor(request), request.params.id), request.query),
  );
  const add = { summary: "Adds items to a conversation", tags, params: Id, body: Created };
  server.post("/conversations/:id/items", { schema: add }, async (request) => {
    const { id } = request.params;
    const runs = host.runsFor(request);
    await rowsOf(runs, id);
    const items = await withFiles(request.body.items ?? [], () => runs, host.limits.body);
    const run = await remember(runs, { session: id, items });
    const added = (await itemsOf(runs, id)).filter((item) => String(item.id).includes(run));
    return itemPage(added, { limit: 100, order: "asc" });
  });
  const one = { summary: "An item of a conversation", tags, params: ItemId };
  server.get("/conversations/:id/items/:item", { schema: one }, async (request) => {
    const { id, item } = request.params;
    return found(
      (await itemsOf(host.runsFor(request), id)).find((each) => each.id === item),
      item,
    );
  });
  const remove = { summary: "Removes an item that was added alone", tags, params: ItemId };
  server.delete("/conversations/:id/items/:item", { schema: remove }, async (request) => {
    const { id, item } = request.params;
    const runs = host.runsFor(request);
    found(
      (await itemsOf(runs, id)).find((each) => each.id === item),
      item,
    );
    const row = (await rowsOf(runs, id)).find(({ run }) => item.includes(run));
    if (row?.request.remember !== true || (row.request.input.messages?.length ?? 0) !== 1) {
      const message = "this item belongs to a run that is kept whole; delete the conversation instead";
      throw new VenturiError("conversation.delete", "conflict", message);
    }
    await runs.remove(row.run);
    return conversation(id, await rowsOf(runs, id).catch(() => []));
  });
}

interface Remembered {
  readonly session: string;
  readonly items: readonly Item[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Appends to a conversation durably. The run's agent does not matter, since no model is called. */
async function remember(runs: Runs, { session, items, metadata }: Remembered): Promise<string> {
  const [agent] = runs.agents();
  if (agent === undefined) throw new VenturiError("conversation.create", "not_found", "there is no agent");
  const { run } = await runs.start({
    agent: agent.name,
    input: { messages: toMessages(items) },
    session,
    remember: true,
    ...(metadata === undefined ? {} : { channel: { conversation: { metadata } } }),
  });
  for await (const _ of runs.follow(run, { channel: "openai" })); // Ends once stored.
  return run;
}

/** The conversation's runs, oldest first. */
async function rowsOf(runs: Runs, session: string): Promise<RunRow[]> {
  const rows: RunRow[] = [];
  let cursor: string | undefined;
  do {
    const page = await runs.list({
      session,
      limit: 100,
      oldestFirst: true,
      ...(cursor === undefined ? {} : { cursor }),
    });
    rows.push(...page.runs);
    cursor = page.cursor;
  } while (cursor !== undefined);
  if (rows.length > 0) return rows;
  throw new VenturiError("conversation.get", "not_found", `Conversation with id '${session}' not found.`);
}

function conversation(id: string, rows: readonly RunRow[]): Record<string, unknown> {
  const metadata = rows.flatMap((row) => asRecord(asRecord(row.request.channel).conversation).metadata ?? []);
  const created = Math.floor((rows[0]?.createdAt ?? Date.now()) / 1000);
  return { id, object: "conversation", created_at: created, metadata: metadata.at(-1) ?? {} };
}

async function itemsOf(runs: Runs, session: string): Promise<Listed[]> {
  const items: Listed[] = [];
  for (const row of await rowsOf(runs, session)) {
    items.push(...(await inputItems(runs, row)));
    if (row.request.remember !== true) items.push(...(await readResponse(runs, row)).items);
  }
  return items;
}

function found(item: Listed | undefined, id: string): Listed {
  if (item !== undefined) return item;
  throw new VenturiError("conversation.get", "not_found", `Item with id '${id}' not found.`);
}
