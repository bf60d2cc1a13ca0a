import { expect } from "chai";
import { picture } from "./picture.ts";
import { edges, eventually, json, localEdges, openScene, question, type Scene, type Seen } from "./scene.ts";

/** Run by `npm run test:backends`, which starts what this points at. */
const phoenix = process.env.PHOENIX_URL ?? "";

interface PhoenixSpan {
  readonly name: string;
  readonly context: { readonly trace_id: string; readonly span_id: string };
  readonly parent_id: string | null;
  readonly span_kind: string;
  readonly status_code: string;
  readonly status_message: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

describe("runs seen in Phoenix", () => {
  let scene: Scene;
  before(async () => {
    scene = await openScene(phoenix);
  });
  after(() => scene.close());

  async function* all(): AsyncGenerator<PhoenixSpan> {
    let cursor: string | null = null;
    do {
      const query = new URLSearchParams({ limit: "500", ...(cursor === null ? {} : { cursor }) });
      const page = (await json(`${phoenix}/v1/projects/default/spans?${query}`)) as
        | { data: PhoenixSpan[]; next_cursor: string | null }
        | undefined;
      yield* page?.data ?? [];
      cursor = page?.next_cursor ?? null;
    } while (cursor !== null);
  }

  const traceOf = ({ trace, spans }: Seen) =>
    eventually(`all ${spans.length} spans of ${trace}`, async () => {
      const found: PhoenixSpan[] = [];
      for await (const span of all()) if (span.context.trace_id === trace) found.push(span);
      return found.length >= spans.length ? found : undefined;
    });
  const rootOf = (spans: readonly PhoenixSpan[]) => spans.find((span) => span.parent_id === null);

  it("the tree is the one the process has, with no span lost", async () => {
    const found = await traceOf(scene.good);
    const seen = found.map((span) => ({
      name: span.name,
      id: span.context.span_id,
      parent: span.parent_id ?? undefined,
    }));
    expect(edges(seen)).to.deep.equal(localEdges(scene.good));
    const kinds = Object.fromEntries(found.map((span) => [span.name, span.span_kind]));
    expect(kinds).to.include({ "invoke_agent assistant": "AGENT", "chat small": "LLM", "execute_tool clock": "TOOL" });
  });

  it("lists tell what was asked and answered, and the tokens", async () => {
    await traceOf(scene.good);
    const query =
      "{projects{edges{node{spans(first:1000){edges{node{name input{value} output{value} cumulativeTokenCountTotal}}}}}}}";
    const body = JSON.stringify({ query });
    const headers = { "content-type": "application/json" };
    const answer = (await json(`${phoenix}/graphql`, { method: "POST", headers, body })) as {
      data: { projects: { edges: { node: { spans: { edges: { node: Record<string, unknown> }[] } } }[] } };
    };
    const nodes = answer.data.projects.edges.flatMap((project) => project.node.spans.edges.map(({ node }) => node));
    const root = nodes.find(({ name }) => name === "invoke_agent assistant");
    expect(root?.input).to.deep.equal({ value: question });
    expect(JSON.stringify(root?.output)).to.include("144");
    expect(root?.cumulativeTokenCountTotal).to.be.a("number").above(0);
    const [chat] = (await traceOf(scene.good)).filter(({ name }) => name === "chat small");
    expect(chat?.attributes).to.include({ "llm.model_name": "small", "llm.system": "simulator" });
    expect(chat?.attributes["llm.token_count.total"]).to.be.a("number").above(0);
  });

  it("both results of parallel calls are shown in the next generation", async () => {
    const found = await traceOf(scene.good);
    const results = found
      .filter(({ name }) => name === "chat small")
      .flatMap(({ attributes }) => Object.entries(attributes))
      .filter(([key, value]) => /^llm\.input_messages\.\d+\.message\.role$/.test(key) && value === "tool");
    expect(results).to.have.length(2);
  });

  it("a failure has its status with where and why; a retry is counted", async () => {
    const failed = rootOf(await traceOf(scene.failed));
    expect(failed?.status_code).to.equal("ERROR");
    expect(failed?.status_message).to.match(/^agent\.run: provider\.stream: .*answered 401/);
    const retried = await traceOf(scene.retried);
    expect(rootOf(retried)?.attributes).to.include({ "venturi.run.retries": 1 });
    expect(retried.map(({ name }) => name)).to.include("venturi.backoff");
    console.log(`      ${scene.good.spans.length} spans of trace ${scene.good.trace} in Phoenix`);
    picture("phoenix", `${phoenix}/projects/${btoa("Project:1")}/traces/${scene.good.trace}`);
  });
});
