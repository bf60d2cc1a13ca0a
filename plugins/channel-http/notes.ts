import { longestQuery, MemoryScope, mostFound, Note } from "venturi/internal";
import {
  type AgentInfo,
  type ChannelHost,
  type ErasedNotes,
  type MemoryRegistry,
  type Notes,
  VenturiError,
  type ZodRoutes,
} from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { z } from "zod";
import { examples } from "./examples.ts";
import { Failure } from "./view.ts";

/** `/v1/memory/…/notes`: notes that agents can recall about a session, a user or themselves. */
export function mountNotes(host: ChannelHost<FastifyInstance>, memories: () => MemoryRegistry): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  const notesOf = (request: unknown, place: Place) => mayUse(host, request, { memories: memories(), ...place });
  server.get("/v1/memory/:scope/:owner/:store/notes", { schema: schemas.find }, async (request) => {
    host.demand(request, "see");
    const { tenant } = host.caller(request);
    const { store: _, ...of } = request.params;
    const { query, limit, after } = request.query;
    const notes = notesOf(request, request.params);
    if (query !== undefined) {
      const found = await notes.search({ places: [{ tenant, ...of }], text: query, top: limit });
      return { notes: found.notes };
    }
    const page = await notes.list({ tenant, ...of }, { limit, ...(after === undefined ? {} : { after }) });
    const last = page.length < limit ? undefined : page.at(-1)?.id;
    return { notes: page, ...(last === undefined ? {} : { next: last }) };
  });
  server.get("/v1/memory/:scope/:owner/:store/notes/:id", { schema: schemas.get }, async (request) => {
    host.demand(request, "see");
    const { tenant } = host.caller(request);
    const { store: _, id, ...of } = request.params;
    const found = await notesOf(request, request.params).get({ tenant, ...of }, id);
    if (found === undefined) throw new VenturiError("memory.read", "not_found", `there is no note "${id}"`);
    return found;
  });
  server.put("/v1/memory/:scope/:owner/:store/notes/:id", { schema: schemas.put }, async (request) => {
    host.demand(request, "steer");
    const { tenant, id: by } = host.caller(request);
    const { store: _, id, ...of } = request.params;
    const note = { id, text: request.body.text, at: Date.now(), by };
    const { outcome } = await notesOf(request, request.params).put({ tenant, ...of }, note, { existing: "replace" });
    return { id, outcome: outcome === "added" ? ("added" as const) : ("replaced" as const) };
  });
  server.delete("/v1/memory/:scope/:owner/:store/notes/:id", { schema: schemas.remove }, async (request) => {
    host.demand(request, "steer");
    const { tenant } = host.caller(request);
    const { store: _, id, ...of } = request.params;
    return { removed: await notesOf(request, request.params).erase({ tenant, ...of, id }) };
  });
  server.delete("/v1/memory/:scope/:owner/:store/notes", { schema: schemas.erase }, async (request) => {
    host.demand(request, "steer");
    const { tenant } = host.caller(request);
    const { store: _, ...of } = request.params;
    return { removed: await notesOf(request, request.params).erase({ tenant, ...of }) };
  });
}

/** Erases from every store, or every one of these agents; returns how many. */
export async function eraseNotes(
  memories: MemoryRegistry,
  which: ErasedNotes,
  agents?: readonly AgentInfo[],
): Promise<number> {
  let removed = 0;
  for (const name of memories.names()) {
    const isTheirs = agents?.some(({ stores }) => stores?.includes(name)) ?? true;
    if (isTheirs) removed += (await memories.get(name)?.erase(which)) ?? 0;
  }
  return removed;
}

interface Place {
  readonly scope: MemoryScope;
  readonly owner: string;
  readonly store: string;
}

/** A key limited to some agents may use only their stores, and only those agents' own notes. */
function mayUse(
  host: ChannelHost<FastifyInstance>,
  request: unknown,
  { memories, scope, owner, store }: Place & { readonly memories: MemoryRegistry },
): Notes {
  const notes = memories.get(store);
  const isLimited = host.caller(request).agents !== undefined;
  const agents = host.runsFor(request).agents();
  const isOpen =
    !isLimited ||
    agents.some(({ name, stores = [] }) => stores.includes(store) && (scope !== "agent" || name === owner));
  if (notes !== undefined && isOpen) return notes;
  throw new VenturiError("memory.read", "not_found", `there is no memory "${store}"`);
}

const name = () => z.string().min(1).max(1_024);
const ofStore = z.object({ scope: MemoryScope, owner: name(), store: name() });
const ofNote = ofStore.extend({ id: z.string() });
const failures = { "4XX": Failure, "5XX": Failure };
const tags = ["memory"];
const Found = Note.extend({ score: z.number().exactOptional() });
const Removed = z.object({ removed: z.number().int() }).meta({ examples: [{ removed: 1 }] });
const schemas = {
  find: {
    summary: "Search notes, or list them",
    description: "With `query` the best ones first; without it by id, page by page with `after`.",
    tags,
    params: ofStore,
    querystring: z.object({
      query: z.string().min(1).max(longestQuery).optional(),
      limit: z.coerce.number().int().min(1).max(mostFound).default(10),
      after: z.string().max(128).optional(),
    }),
    response: {
      200: z
        .object({ notes: z.array(Found), next: z.string().optional().describe("`after` of the next page") })
        .meta({ examples: [{ notes: [{ ...examples.note, score: 0.0164 }] }] }),
      ...failures,
    },
  },
  get: {
    summary: "A note",
    tags,
    params: ofNote,
    response: { 200: Note.meta({ examples: [examples.note] }), ...failures },
  },
  put: {
    summary: "Put a note, or replace it",
    description: "The id is yours: the same request again changes nothing.",
    tags,
    params: ofNote,
    body: z
      .strictObject({ text: z.string().min(1).max(64_000).describe("one fact that can be understood by itself") })
      .meta({ examples: [{ text: examples.note.text }] }),
    response: {
      200: z
        .object({ id: z.string(), outcome: z.enum(["added", "replaced"]) })
        .meta({ examples: [{ id: examples.note.id, outcome: "added" }] }),
      ...failures,
    },
  },
  remove: { summary: "Erase a note", tags, params: ofNote, response: { 200: Removed, ...failures } },
  erase: {
    summary: "Erase all notes of a session, a user or an agent in a memory",
    tags,
    params: ofStore,
    response: { 200: Removed, ...failures },
  },
};
