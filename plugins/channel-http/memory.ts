import { Documents, MemoryScope, readSchema, StoredDocument } from "venturi/internal";
import {
  type AgentInfo,
  type ChannelHost,
  type Journal,
  type MemoryDocument,
  type MemoryPlace,
  type MemoryRegistry,
  VenturiError,
  type ZodRoutes,
} from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { z } from "zod";
import { examples } from "./examples.ts";
import { eraseNotes } from "./notes.ts";
import { Failure } from "./view.ts";

const most = 1_000;

/** `/v1/memory`: what agents remember about a session, a user or themselves. */
export function mountMemory(host: ChannelHost<FastifyInstance>, { journal, memories }: Kept): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  const documents = () => new Documents(journal().keyValues);
  server.get("/v1/memory/:scope/:owner", { schema: schemas.list }, async (request) => {
    host.demand(request, "see");
    const { tenant } = host.caller(request);
    const found: StoredDocument[] = [];
    for await (const document of documents().all({ tenant, ...request.params })) {
      if (found.length < most) found.push(document);
    }
    const seen = new Set(documentsOf(host, request, request.params).map(({ name }) => name));
    return { documents: found.filter(({ document }) => seen.has(document)) };
  });
  server.get("/v1/memory/:scope/:owner/:document", { schema: schemas.get }, async (request) => {
    host.demand(request, "see");
    const { tenant } = host.caller(request);
    mustKnow(host, request, request.params);
    const found = await documents().get({ tenant, ...request.params });
    if (found === undefined) throw none(request.params);
    return found;
  });
  server.put("/v1/memory/:scope/:owner/:document", { schema: schemas.put }, async (request) => {
    host.demand(request, "steer");
    const { tenant, id } = host.caller(request);
    const { value, why, version } = request.body;
    mustFit(value, mustKnow(host, request, request.params));
    const change = { at: Date.now(), by: id, ...(why === undefined ? {} : { why }) };
    const asked = { next: () => value, change, ...(version === undefined ? {} : { version }) };
    return await documents().change({ tenant, ...request.params }, asked);
  });
  server.delete("/v1/memory/:scope/:owner/:document", { schema: schemas.remove }, async (request) => {
    host.demand(request, "steer");
    mustKnow(host, request, request.params);
    const { tenant } = host.caller(request);
    return { removed: await documents().remove({ tenant, ...request.params }) };
  });
  server.delete("/v1/memory/:scope/:owner", { schema: schemas.erase }, async (request) => {
    host.demand(request, "steer");
    const { tenant, agents } = host.caller(request);
    if (agents !== undefined) {
      throw new VenturiError(
        "memory.remove",
        "forbidden",
        "this key has some agents only; remove documents one by one",
      );
    }
    return { removed: await eraseMemory({ journal, memories }, { tenant, ...request.params }) };
  });
}

/** The stores behind `/v1/memory`. */
export interface Kept {
  readonly journal: () => Journal;
  readonly memories: () => MemoryRegistry;
}

/** Erases everything remembered about a session, user or agent; with `agents` only their documents, and notes in their stores. */
export async function eraseMemory(
  { journal, memories }: Kept,
  place: MemoryPlace,
  agents?: readonly AgentInfo[],
): Promise<number> {
  const { keyValues } = journal();
  let removed = await eraseNotes(memories(), place, agents);
  if (keyValues === undefined) return removed;
  const documents = new Documents(keyValues);
  for await (const { document } of documents.all(place)) {
    const isTheirs = agents?.some(({ memory }) => memory?.some(({ name }) => name === document)) ?? true;
    if (isTheirs) removed += await documents.remove({ ...place, document });
  }
  return removed;
}

/** Documents of agents the caller may use. A key limited to some agents has only those agents' own. */
function documentsOf(
  host: ChannelHost<FastifyInstance>,
  request: unknown,
  { scope, owner }: Pick<Place, "scope" | "owner">,
): readonly MemoryDocument[] {
  const isLimited = host.caller(request).agents !== undefined;
  return host
    .runsFor(request)
    .agents()
    .filter(({ name }) => !isLimited || scope !== "agent" || name === owner)
    .flatMap(({ memory = [] }) => memory);
}

interface Place {
  readonly scope: MemoryScope;
  readonly owner: string;
  readonly document: string;
}

function mustKnow(host: ChannelHost<FastifyInstance>, request: unknown, place: Place): MemoryDocument {
  const { document, scope } = place;
  const known = documentsOf(host, request, place).find((each) => each.name === document && each.scope === scope);
  if (known !== undefined) return known;
  throw new VenturiError("memory.read", "not_found", `no agent has a document "${document}" for each ${scope}`);
}

function mustFit(value: unknown, { schema, most: longest }: MemoryDocument): void {
  const [wrong] = readSchema(schema).problems(value);
  if (wrong !== undefined) {
    throw new VenturiError("memory.change", "invalid_input", `value${wrong.path}: ${wrong.message}`);
  }
  const size = JSON.stringify(value)?.length ?? 0;
  if (size <= longest) return;
  const message = `the document would have ${size} characters, and ${longest} are allowed`;
  throw new VenturiError("memory.change", "too_large", message);
}

const none = ({ document, scope, owner }: Place): VenturiError =>
  new VenturiError("memory.read", "not_found", `${document} of ${scope} ${owner} has never been written`);

const name = () => z.string().min(1).max(1_024);
const ofOwner = z.object({ scope: MemoryScope, owner: name() });
const ofDocument = ofOwner.extend({ document: name() });
const failures = { "4XX": Failure, "5XX": Failure };
const tags = ["memory"];
const Document = StoredDocument.meta({ examples: [examples.memory] });
const Removed = z.object({ removed: z.number().int() }).meta({ examples: [{ removed: 1 }] });
const Body = z.strictObject({
  value: z.record(z.string(), z.unknown()).describe("the whole document"),
  why: z.string().max(500).optional(),
  version: z
    .number()
    .int()
    .min(0)
    .optional()
    .describe("refused with 409 unless this is its version; 0: it does not exist"),
});
const schemas = {
  list: {
    summary: "What is remembered of a session, a user or an agent",
    tags,
    params: ofOwner,
    response: {
      200: z.object({ documents: z.array(StoredDocument) }).meta({ examples: [{ documents: [examples.memory] }] }),
      ...failures,
    },
  },
  get: {
    summary: "A document of working memory, and its last changes",
    tags,
    params: ofDocument,
    response: { 200: Document, ...failures },
  },
  put: {
    summary: "Replace a document of working memory",
    description: "Checked against its schema. The next generation of a run sees it.",
    tags,
    params: ofDocument,
    body: Body.meta({ examples: [{ value: examples.memory.value, why: "corrected by phone" }] }),
    response: { 200: Document, ...failures },
  },
  remove: {
    summary: "Erase a document of working memory",
    tags,
    params: ofDocument,
    response: { 200: Removed, ...failures },
  },
  erase: {
    summary: "Erase everything that is remembered of a session, a user or an agent",
    tags,
    params: ofOwner,
    response: { 200: Removed, ...failures },
  },
};
