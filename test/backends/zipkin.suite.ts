import { expect } from "chai";
import { picture } from "./picture.ts";
import { edges, eventually, json, localEdges, openScene, type Scene, type Seen } from "./scene.ts";

/** Run by `npm run test:backends`, which starts what this points at. */
const zipkin = process.env.ZIPKIN_URL ?? "";

interface ZipkinSpan {
  readonly id: string;
  readonly parentId?: string;
  readonly name: string;
  readonly timestamp: number;
  readonly duration?: number;
  readonly tags?: Readonly<Record<string, string>>;
}

describe("runs seen in Zipkin", () => {
  let scene: Scene;
  before(async () => {
    process.env.OTEL_TRACES_EXPORTER = "zipkin";
    process.env.OTEL_EXPORTER_ZIPKIN_ENDPOINT = `${zipkin}/api/v2/spans`;
    scene = await openScene("");
  });
  after(() => scene.close());

  const traceOf = ({ trace, spans }: Seen) =>
    eventually(`all ${spans.length} spans of ${trace}`, async () => {
      const found = (await json(`${zipkin}/api/v2/trace/${trace}`)) as ZipkinSpan[] | undefined;
      return found !== undefined && found.length >= spans.length ? found : undefined;
    });
  const rootOf = (spans: readonly ZipkinSpan[]) => spans.find(({ parentId }) => parentId === undefined)?.tags ?? {};

  it("the service and its spans are known", async () => {
    await traceOf(scene.good);
    expect(await json(`${zipkin}/api/v2/services`)).to.include("venturi");
    expect(await json(`${zipkin}/api/v2/spans?serviceName=venturi`)).to.include.members([
      "invoke_agent assistant",
      "execute_tool clock",
      "venturi.stream",
    ]);
  });

  it("the tree is the one the process has, with no span lost", async () => {
    const found = await traceOf(scene.good);
    // Zipkin's names are in lower case.
    const local = localEdges(scene.good).map((edge) => edge.toLowerCase());
    expect(edges(found.map(({ id, name, parentId }) => ({ id, name, parent: parentId })))).to.deep.equal(local.sort());
    for (const { timestamp } of found) expect(Number.isInteger(timestamp)).to.equal(true);
  });

  it("the root tells the model, the tokens and the time", async () => {
    const tags = rootOf(await traceOf(scene.good));
    expect(tags).to.include({ "gen_ai.request.model": "small", "gen_ai.provider.name": "simulator" });
    expect(Number(tags["gen_ai.usage.input_tokens"])).to.be.above(0);
    expect(Number(tags["gen_ai.usage.output_tokens"])).to.be.above(0);
    expect(tags).to.have.property("venturi.timing.providerStream");
    expect(tags).to.not.have.property("error");
  });

  it("a failure can be searched, and says where and why; a retry is counted", async () => {
    const failed = rootOf(await traceOf(scene.failed));
    expect(failed.error).to.match(/^agent\.run: provider\.stream: .*answered 401/);
    const url = `${zipkin}/api/v2/traces?serviceName=venturi&annotationQuery=error&limit=10`;
    const searched = (await json(url)) as { traceId: string }[][];
    expect(searched.map(([first]) => first?.traceId)).to.include(scene.failed.trace);
    const retried = await traceOf(scene.retried);
    expect(rootOf(retried)).to.include({ "venturi.run.retries": "1" });
    expect(retried.map(({ name }) => name)).to.include("venturi.backoff");
    console.log(`      ${scene.good.spans.length} spans of trace ${scene.good.trace} in Zipkin`);
    picture("zipkin", `${zipkin}/zipkin/traces/${scene.good.trace}`);
  });
});
