import { Files, NamedFiles, readForm } from "venturi/internal";
import type { ChannelHost, Runs, StoredFile, ZodRoutes } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { asRecord } from "venturi/plugin/provider";
import { z } from "zod";
import { invalid } from "./content.ts";

const Id = z.object({ id: z.string() });
const Listing = z.object({
  purpose: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(10_000).default(10_000),
  order: z.enum(["asc", "desc"]).default("desc"),
  after: z.string().optional(),
});
const tags = ["openai"];

/** `/files`: uploads that later requests name as `file_id`. */
export function mountFiles(host: ChannelHost<FastifyInstance>): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  const filesOf = (request: unknown) => new Files(host.runsFor(request));
  const upload = { summary: "Uploads a file, as a form", tags };
  server.post("/files", { schema: upload, config: { form: true } }, async (request) => {
    const { file, fields } = await readForm(request.body, request.headers["content-type"]);
    const purpose = fields.get("purpose");
    if (!purpose) throw invalid('the form has no "purpose"');
    const seconds = fields.get("expires_after[seconds]");
    if (seconds !== undefined && !/^\d{1,9}$/.test(seconds)) throw invalid("expires_after[seconds] is a whole number");
    const keep = seconds === undefined ? {} : { keep: Number(seconds) * 1000 };
    return shown(await filesOf(request).add({ ...file, purpose, ...keep }));
  });
  const list = { summary: "The files of this key's tenant", tags, querystring: Listing };
  server.get("/files", { schema: list }, async (request) => {
    const { purpose, limit, order, after } = request.query;
    const all = (await filesOf(request).list()).filter((file) => purpose === undefined || file.purpose === purpose);
    if (order === "asc") all.reverse();
    const from = after === undefined ? 0 : all.findIndex(({ run }) => run === Files.runOf(after)) + 1;
    const data = all.slice(from, from + limit).map(shown);
    const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
    return { object: "list", data, has_more: all.length > from + limit, ...ends };
  });
  server.get("/files/:id", { schema: { summary: "A file", tags, params: Id } }, async (request) =>
    shown(await filesOf(request).get(request.params.id)),
  );
  const content = { summary: "A file's bytes", tags, params: Id };
  server.get("/files/:id/content", { schema: content }, async (request, reply) => {
    const { data, mediaType } = await filesOf(request).data(request.params.id);
    return reply.header("content-disposition", "attachment").type(mediaType).send(Buffer.from(data, "base64"));
  });
  server.delete("/files/:id", { schema: { summary: "Removes a file", tags, params: Id } }, async (request) => {
    await filesOf(request).remove(request.params.id);
    return { id: request.params.id, object: "file", deleted: true };
  });
}

const shown = ({ run, name, purpose, size, created, expires }: StoredFile) => ({
  id: `file-${run}`,
  object: "file",
  bytes: size,
  created_at: Math.floor(created / 1000),
  expires_at: Math.floor(expires / 1000),
  filename: name,
  purpose,
  status: "processed",
});

type Item = Record<string, unknown>;

/** Replaces the ids of files stored here with their content, wherever a content list refers to one. */
export async function withFiles<T extends Item>(messages: T[], runs: () => Runs, most: number): Promise<T[]> {
  if (!messages.some((message) => lists.some((key) => Array.isArray(message[key]) && message[key].some(named)))) {
    return messages;
  }
  const files = new NamedFiles(runs(), most);
  const out: T[] = [];
  for (const message of messages) {
    const changed: Item = { ...message };
    for (const key of lists) {
      const content = message[key];
      if (!Array.isArray(content) || !content.some(named)) continue;
      const items: unknown[] = [];
      for (const item of content) items.push(await inline(item as Item, files));
      changed[key] = items;
    }
    out.push(changed as T); // The same kind of message.
  }
  return out;
}

/** Fields with content lists. */
const lists = ["content", "output"];

const idOf = (item: unknown): unknown => asRecord(item).file_id ?? asRecord(asRecord(item).file).file_id;
const named = (item: unknown): boolean => Files.runOf(idOf(item)) !== undefined;

async function inline(item: Item, files: NamedFiles): Promise<Item> {
  const stored = await files.load(idOf(item));
  if (stored === undefined) return item;
  const { name: filename, mediaType, data } = stored;
  const url = `data:${mediaType};base64,${data}`;
  if (item.type === "file") {
    const { file_id: _, ...file } = asRecord(item.file);
    return { ...item, file: { filename, ...file, file_data: url } };
  }
  const { file_id: _, ...rest } = item;
  return item.type === "input_image" ? { ...rest, image_url: url } : { filename, ...rest, file_data: url };
}
