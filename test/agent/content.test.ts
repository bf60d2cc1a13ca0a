import { createHash } from "node:crypto";
import { expect } from "chai";
import { MemoryBlobs } from "../../plugins/memory/blobs.ts";
import { ContentStore } from "../../src/agent/run/content.ts";
import { someContent, someText } from "../../src/agent/run/content-parts.ts";
import type { FilePart, ImagePart, Message, Part } from "../../src/core/model/messages.ts";

const limit = 16 * 1024;
const small = "c21hbGw=";
const large = Buffer.alloc(limit, 7).toString("base64");
const longText = "t".repeat(limit + 1);
const hashOf = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");
const image = (data: string): ImagePart => ({ type: "image", mediaType: "image/png", data });
const file = (data: string): FilePart => ({ type: "file", mediaType: "application/pdf", data, name: "a.pdf" });
const user = (...parts: Part[]): Message => ({ role: "user", parts });
const result = (more: object): Part => ({ type: "tool_result", call: "c", name: "n", ok: true, output: "o", ...more });
const opaque = (data: unknown): Part => ({ type: "opaque", wire: "w", data });
const native = (fields: Record<string, unknown>) => ({ native: { wire: "w", fields } });

describe("the store of a run's content", () => {
  const everything: Message[] = [
    user(
      { type: "text", text: longText, ...native({ cite: { quote: [longText, 1, null, "short"] } }) },
      image(large),
      image(small),
      file(large),
      result({ images: [image(large), image(small)], files: [file(large)] }),
      result({}),
      opaque({ deep: [{ text: longText }], n: 1, no: null }),
      { type: "reasoning", text: longText, encrypted: longText },
      { type: "image", mediaType: "image/png", url: "https://x/y.png" },
    ),
    {
      role: "assistant",
      provider: "p",
      parts: [{ type: "tool_call", call: "c", name: "n", arguments: { long: longText } }],
    },
  ];

  it("stores large content under a hash and reads back exactly the same", async () => {
    const blobs = new MemoryBlobs();
    const kept = await new ContentStore(blobs).keep("r", everything);
    expect(JSON.stringify(kept)).to.have.length.below(JSON.stringify(everything).length / 2);
    const hash = hashOf(Buffer.alloc(limit, 7));
    const [first] = kept;
    expect(first?.parts[1]).to.deep.equal({ type: "image", mediaType: "image/png", hash, size: limit });
    expect(first?.parts[2]).to.deep.equal(image(small));
    expect(first?.parts[3]).to.deep.equal({
      type: "file",
      mediaType: "application/pdf",
      name: "a.pdf",
      hash,
      size: limit,
    });
    expect(first?.parts[7]).to.deep.equal(everything[0]?.parts[7]);
    expect(kept[1]).to.deep.equal(everything[1]);
    expect(first?.parts[5]).to.deep.equal(result({}));
    expect(await blobs.of("r")).to.have.members([hash, hashOf(longText)]);
    // A store that has not seen the content reads it from the journal.
    expect(await new ContentStore(blobs).load(kept)).to.deep.equal(everything);
  });

  it("changes nothing when no content is large or there is no blob store", async () => {
    const messages = [user(image(small), result({ images: [image(small)] }), opaque({ a: "b" }))];
    const store = new ContentStore(new MemoryBlobs());
    expect(await store.keep("r", messages)).to.equal(messages);
    expect(await store.load(messages)).to.equal(messages);
    const nowhere = new ContentStore(undefined);
    expect(await nowhere.keep("r", everything)).to.equal(everything);
    expect(await nowhere.keepOne("r", image(large))).to.deep.equal(image(large));
  });

  it("stores content as a blob only above 16 KiB of base64 or text", async () => {
    const store = new ContentStore(new MemoryBlobs());
    const at = image("a".repeat(limit));
    expect(await store.keepOne("r", at)).to.equal(at);
    expect(await store.keepOne("r", image("a".repeat(limit + 4)))).not.to.have.property("data");
    const url = { mediaType: "image/png", url: "https://x" };
    expect(await store.keepOne("r", url)).to.equal(url);
    for (const length of [limit, limit + 1]) {
      const messages = [user(opaque("t".repeat(length)))];
      expect((await store.keep("r", messages)) === messages).to.equal(length === limit);
      const files = [user(file("a".repeat(length)))];
      expect((await store.keep("r", files)) === files).to.equal(length === limit);
    }
    // Beside something large, what is short stays.
    const mixed = await store.keep("r", [user(opaque(["t".repeat(limit), longText]), image("a".repeat(limit)))]);
    expect(mixed[0]?.parts[0]).to.have.nested.property("data[0]", "t".repeat(limit));
    expect(mixed[0]?.parts[1]).to.deep.equal(image("a".repeat(limit)));
  });

  it("refuses input whose content is ambiguous or names a hash, wherever it is", async () => {
    const store = new ContentStore(new MemoryBlobs());
    const marker = "\u0000venturi:sha256:";
    const bad: Part[] = [
      { type: "image", mediaType: "i" },
      { ...image(small), url: "https://x" },
      { type: "image", mediaType: "i", hash: "h" },
      { ...image(small), hash: "h" },
      { type: "file", mediaType: "f", hash: "h" },
      result({ images: [image(small), { type: "image", mediaType: "i", hash: "h" }] }),
      result({ files: [{ type: "file", mediaType: "f", hash: "h" }] }),
      opaque({ a: [`${marker}h`] }),
      { type: "text", text: "", ...native({ a: `${marker}h` }) },
      { type: "text", text: "", hash: "h" },
      { type: "text", text: "", size: 1 },
    ];
    for (const part of bad) {
      const check = () => store.check([user({ type: "text", text: "a" }), user(part)]);
      expect(check, JSON.stringify(part)).to.throw().with.include({ op: "run.start", code: "invalid_input" });
    }
    store.check([user({ type: "text", text: `${marker}h` }, { type: "reasoning", text: `${marker}h` })]);
  });

  it("fails with not_found for content that was pruned", async () => {
    const blobs = new MemoryBlobs();
    const kept = await new ContentStore(blobs).keep("r", [user(image(large))]);
    blobs.forget("r");
    const failure = await new ContentStore(blobs).load(kept).catch((thrown) => thrown);
    expect(failure).to.include({ op: "journal.blob", code: "not_found" });
  });

  it("reads the journal once for the rounds of a run, and forgets the oldest past 64 MiB", async () => {
    const blobs = new MemoryBlobs();
    const gets: string[] = [];
    const get = blobs.get.bind(blobs);
    blobs.get = (hash) => {
      gets.push(hash);
      return get(hash);
    };
    const writer = new ContentStore(blobs);
    const size = 15 * 1024 * 1024; // 20 MiB as base64, so that three fit
    const kept: Part[] = [];
    for (let byte = 0; byte < 4; byte++) {
      kept.push(await writer.keepOne("r", image(Buffer.alloc(size, byte).toString("base64"))));
    }
    const reader = new ContentStore(blobs);
    const load = async (index: number) => {
      const before = gets.length;
      await reader.load([user(kept[index] ?? expect.fail())]);
      return gets.length > before ? "read" : "known";
    };
    expect([await load(0), await load(1), await load(2)]).to.deep.equal(["read", "read", "read"]);
    expect([await load(0), await load(1), await load(2), await load(0)]).to.deep.equal(Array(4).fill("known"));
    expect(await load(3)).to.equal("read");
    // The one used longest ago made room.
    expect([await load(0), await load(2), await load(3)]).to.deep.equal(["known", "known", "known"]);
    expect(await load(1)).to.equal("read");
    // What was just written is known as well.
    await writer.load([user(kept[3] ?? expect.fail())]);
    expect(gets).to.have.length(5);
  });
});

describe("looking for content", () => {
  it("finds images and files, also in tool results, and texts in vendor parts", () => {
    const isPng = ({ mediaType }: { mediaType: string }) => mediaType === "image/png";
    expect(someContent(image(small), isPng)).to.equal(true);
    expect(someContent(file(small), isPng)).to.equal(false);
    expect(someContent(result({ images: [image(small)] }), isPng)).to.equal(true);
    expect(someContent(result({ files: [file(small)] }), ({ mediaType }) => mediaType === "application/pdf")).to.equal(
      true,
    );
    expect(someContent(result({ images: [image(small)], files: [file(small)] }), () => false)).to.equal(false);
    expect(someContent(result({}), () => true)).to.equal(false);
    expect(someContent({ type: "text", text: "a" }, () => true)).to.equal(false);
    const isX = (text: string) => text === "x";
    expect(someText(opaque({ a: [1, null, { b: "x" }] }), isX)).to.equal(true);
    expect(someText(opaque({ x: ["y"] }), isX)).to.equal(false);
    expect(someText({ type: "text", text: "x" }, isX)).to.equal(false);
    expect(someText({ type: "text", text: "", ...native({ a: "x" }) }, isX)).to.equal(true);
    expect(someText({ type: "reasoning", text: "x" }, isX)).to.equal(false);
  });

  it("stores a lone surrogate as U+FFFD and reads back what was stored", async () => {
    const blobs = new MemoryBlobs();
    const text = "\ud800lorem ipsum ".repeat(10_000);
    const kept = await new ContentStore(blobs).keep("r", [{ role: "user", parts: [{ type: "text", text }] }]);
    expect(JSON.stringify(kept)).to.have.length.below(8_000);
    const [loaded] = await new ContentStore(blobs).load(kept);
    expect(loaded?.parts[0]).to.have.property("text", text.toWellFormed());
  });
});
