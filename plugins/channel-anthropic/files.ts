import { Files, NamedFiles, readForm } from "venturi/internal";
import type { ChannelHost, Runs, StoredFile, ZodRoutes } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { asRecord } from "venturi/plugin/provider";
import { z } from "zod";

const Id = z.object({ id: z.string() });
const Listing = z.object({
  limit: z.coerce.number().int().min(1).max(1000).default(20),
  after_id: z.string().optional(),
  before_id: z.string().optional(),
});
const tags = ["anthropic"];

/** `/files`: uploads that later messages name as `file_id`. */
export function mountFiles(host: ChannelHost<FastifyInstance>): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  const filesOf = (request: unknown) => new Files(host.runsFor(request));
  const upload = { summary: "Uploads a file, as a form", tags };
  server.post("/files", { schema: upload, config: { form: true } }, async (request) => {
    const { file } = await readForm(request.body, request.headers["content-type"]);
    return shown(await filesOf(request).add({ ...file, purpose: "user_data" }));
  });
  const list = { summary: "The files of this key's tenant", tags, querystring: Listing };
  server.get("/files", { schema: list }, async (request) => {
    const { limit, after_id, before_id } = request.query;
    const all = await filesOf(request).list();
    const place = (id: string) => all.findIndex(({ run }) => run === Files.runOf(id));
    const end = before_id === undefined ? all.length : Math.max(0, place(before_id));
    const from =
      before_id === undefined ? (after_id === undefined ? 0 : place(after_id) + 1) : Math.max(0, end - limit);
    const data = all.slice(from, Math.min(end, from + limit)).map(shown);
    const more = before_id === undefined ? all.length > from + limit : from > 0;
    return { data, has_more: more, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
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
    return { id: request.params.id, type: "file_deleted" };
  });
}

const shown = ({ run, name, mediaType, size, created, expires }: StoredFile) => ({
  id: `file_${run}`,
  type: "file",
  filename: name,
  mime_type: mediaType,
  size_bytes: size,
  created_at: new Date(created).toISOString(),
  expires_at: new Date(expires).toISOString(),
  downloadable: true,
});

type Block = Record<string, unknown>;

/** Replaces the ids of files stored here with their content, in messages and tool results. */
export async function withFiles<T extends Block>(messages: T[], runs: () => Runs, most: number): Promise<T[]> {
  if (!messages.some(names)) return messages;
  const files = new NamedFiles(runs(), most);
  const out: T[] = [];
  for (const message of messages) out.push((await inline(message, files)) as T); // The same kind of message.
  return out;
}

const idOf = (block: Block): unknown =>
  asRecord(block.source).type === "file" ? asRecord(block.source).file_id : undefined;

const names = (block: Block): boolean =>
  Files.runOf(idOf(block)) !== undefined ||
  (Array.isArray(block.content) && block.content.some((each) => names(asRecord(each))));

async function inline(block: Block, files: NamedFiles): Promise<Block> {
  if (!names(block)) return block;
  if (Array.isArray(block.content)) {
    const content: Block[] = [];
    for (const each of block.content) content.push(await inline(each as Block, files));
    return { ...block, content };
  }
  const stored = await files.load(idOf(block));
  if (stored === undefined) return block;
  const { mediaType: media_type, data, name } = stored;
  if (block.type === "image") return { ...block, source: { type: "base64", media_type, data } };
  const titled = { title: name, ...block };
  // The API takes plain text as text, and other documents as base64.
  if (!media_type.startsWith("text/")) return { ...titled, source: { type: "base64", media_type, data } };
  return {
    ...titled,
    source: { type: "text", media_type: "text/plain", data: Buffer.from(data, "base64").toString() },
  };
}
