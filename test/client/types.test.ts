import { readFileSync } from "node:fs";
import { expect } from "chai";
import {
  type EventOf,
  type FeedItem,
  type RunEvent,
  type StartRequest,
  VenturiClient,
} from "../../src/client/client.ts";
import type * as core from "../../src/core/run/events.ts";
import type { FeedItem as CoreFeedItem } from "../../src/core/run/feed.ts";

type Same<Left, Right> = [Left] extends [Right] ? ([Right] extends [Left] ? true : false) : false;

describe("the Python client", () => {
  it("has the version of this package", () => {
    const read = (name: string) => readFileSync(new URL(`../../../${name}`, import.meta.url), "utf8");
    const { version } = JSON.parse(read("package.json")) as { version: string };
    expect(read("clients/python/pyproject.toml")).to.include(`\nversion = "${version}"\n`);
  });

  it("has no field that Python cannot name", async () => {
    const { pythonModels } = (await import("../../../scripts/python-models.mjs" as string)) as {
      pythonModels(schemas: object): string;
    };
    const names = ["for", "from", "schema", "copy", "None", "x-ray", "2fa", "_id", "toolCalls", "plain"];
    const schema = {
      type: "object",
      properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
      required: ["from", "plain"],
    };
    const fields = pythonModels({ Odd: schema }).split("class Odd(Model):\n")[1];
    expect(fields?.trimEnd().split("\n")).to.deep.equal([
      '    for_: str | None = Field(default=None, alias="for")',
      '    from_: str = Field(alias="from")',
      '    schema_: str | None = Field(default=None, alias="schema")',
      '    copy_: str | None = Field(default=None, alias="copy")',
      '    none: str | None = Field(default=None, alias="None")',
      '    x_ray: str | None = Field(default=None, alias="x-ray")',
      '    n2fa: str | None = Field(default=None, alias="2fa")',
      '    id: str | None = Field(default=None, alias="_id")',
      '    tool_calls: str | None = Field(default=None, alias="toolCalls")',
      "    plain: str",
    ]);
  });
});

describe("the types of venturi/client", () => {
  it("are those of the service", () => {
    const kinds: Same<RunEvent["type"], core.RunEvent["type"]> = true;
    const items: Same<FeedItem["type"], CoreFeedItem["type"]> = true;
    const codes: Same<EventOf<"run.failed">["error"]["code"], core.EventOf<"run.failed">["error"]["code"]> = true;
    const ready: Same<EventOf<"tool_call.ready">, core.EventOf<"tool_call.ready">> = true;
    // Whatever the service sends is what the client declares. (Not the other way: old journals lack newer fields.)
    const sent = (event: core.RunEvent): RunEvent => event;
    const fed = (item: CoreFeedItem): FeedItem => item;
    expect([kinds, items, codes, ready, typeof sent, typeof fed].length).to.equal(6);
  });

  it("tell events apart by their type, and refuse what the service would", () => {
    const read = (event: RunEvent): string | number => {
      if (event.type === "text.delta") return event.text;
      if (event.type === "run.failed") return event.error.code;
      // @ts-expect-error a run.started has no text
      if (event.type === "run.started") return event.text;
      return event.seq;
    };
    expect(read({ type: "text.delta", run: "r", seq: 1, at: 0, round: 1, text: "hi" })).to.equal("hi");
    const client = new VenturiClient();
    // @ts-expect-error an agent's name is needed
    const nobody: StartRequest = { input: "hi" };
    // @ts-expect-error no such status
    const list = () => client.runs({ status: "done" });
    expect([nobody, list].length).to.equal(2);
  });
});
