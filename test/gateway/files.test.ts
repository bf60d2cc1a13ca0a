import { createHash } from "node:crypto";
import Anthropic from "@anthropic-ai/sdk";
import { assert } from "chai";
import OpenAI, { toFile } from "openai";
import * as chat from "../plugins/openai/streams.ts";
import { type Gateway, gateway } from "./gateway.ts";

// biome-ignore lint/suspicious/noExplicitAny: vendors' answers, read by path
type Json = any;
const pdf = Buffer.concat([Buffer.from("%PDF-1.4\n"), Buffer.alloc(40_000, 7)]);
const png = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ", "base64");
const sha256 = (key: string) => createHash("sha256").update(key).digest("hex");
const keys = ["a", "b"].map((id) => `{ id: ${id}, sha256: "${sha256(`key-${id}`)}", tenant: ${id} }`);

describe("files", () => {
  let open: Gateway;
  before(async () => {
    open = await gateway({
      provider: "openai",
      answer: chat.text,
      more: "limits: { body: 200KiB }",
      server: `, auth: { keys: [${keys.join(", ")}] }`,
    });
  });
  after(() => open.close());
  const openai = (key = "key-a") => new OpenAI({ baseURL: `${open.url}/openai/v1`, apiKey: key, maxRetries: 0 });
  const anthropic = (key = "key-a") =>
    new Anthropic({ baseURL: `${open.url}/anthropic`, apiKey: key, authToken: null, maxRetries: 0 });
  const upload = async (bytes: Buffer, name: string, type: string) =>
    openai().files.create({ file: await toFile(bytes, name, { type }), purpose: "user_data" });
  const failure = (thrown: unknown): number | undefined => (thrown as { status?: number }).status;
  const sent = (): Json => open.bodies().at(-1)?.messages;

  it("are uploaded, listed, read and removed with OpenAI's client, large and small", async () => {
    for (const bytes of [pdf, Buffer.from("small")]) {
      const file = await upload(bytes, "a b.pdf", "application/pdf");
      assert.deepInclude(file, { object: "file", bytes: bytes.length, filename: "a b.pdf", purpose: "user_data" });
      assert.deepEqual(await openai().files.retrieve(file.id), file);
      const content = await openai().files.content(file.id);
      assert.equal(content.headers.get("content-type"), "application/pdf");
      assert.deepEqual(Buffer.from(await content.arrayBuffer()), bytes);
      assert.include(
        (await openai().files.list({ purpose: "user_data" })).data.map(({ id }) => id),
        file.id,
      );
      assert.isEmpty((await openai().files.list({ purpose: "batch" })).data);
      await openai().files.delete(file.id);
      assert.equal(await openai().files.retrieve(file.id).catch(failure), 404);
      assert.equal(await openai().files.content(file.id).catch(failure), 404);
      assert.isEmpty((await openai().files.list()).data);
    }
  });

  it("are the same on Anthropic's surface", async () => {
    const file: Json = await anthropic().beta.files.upload({
      file: await toFile(pdf, "a.pdf", { type: "application/pdf" }),
    });
    assert.deepInclude(file, { type: "file", filename: "a.pdf", mime_type: "application/pdf", size_bytes: pdf.length });
    assert.equal((await openai().files.retrieve(file.id)).bytes, pdf.length);
    assert.deepEqual(
      (await anthropic().beta.files.list()).data.map(({ id }: Json) => id),
      [file.id],
    );
    const content = await anthropic().beta.files.download(file.id);
    assert.deepEqual(Buffer.from(await content.arrayBuffer()), pdf);
    await anthropic().beta.files.delete(file.id);
    assert.equal(await (anthropic().beta.files.retrieveMetadata(file.id) as Promise<unknown>).catch(failure), 404);
  });

  it("are named in requests of all surfaces, and reach the model as their content", async () => {
    const { id } = await upload(pdf, "a.pdf", "application/pdf");
    const image = (await upload(png, "dot.png", "application/octet-stream")).id;
    const text = (await upload(Buffer.from("It rains."), "note.txt", "text/plain")).id;
    const url = `data:application/pdf;base64,${pdf.toString("base64")}`;
    const model = "agent";
    const ask = async (send: () => Promise<unknown>) => {
      await send();
      return JSON.stringify(sent());
    };
    const chatted = await ask(() =>
      openai().chat.completions.create({
        model,
        messages: [{ role: "user", content: [{ type: "file", file: { file_id: id } }] }],
      }),
    );
    assert.include(chatted, url);
    assert.include(chatted, '"filename":"a.pdf"');
    const answered = await ask(() =>
      openai().responses.create({
        model,
        input: [
          {
            role: "user",
            content: [
              { type: "input_file", file_id: id },
              { type: "input_image", file_id: image, detail: "auto" },
            ],
          },
        ],
      }),
    );
    assert.include(answered, url);
    assert.include(answered, `data:image/png;base64,${png.toString("base64")}`);
    const source = (file_id: string) => ({ type: "file" as const, file_id: file_id.replace("file-", "file_") });
    const said = await ask(() =>
      anthropic().beta.messages.create({
        model,
        max_tokens: 9,
        messages: [
          {
            role: "user",
            content: [
              { type: "document", source: source(id) },
              { type: "image", source: source(image) },
              { type: "document", source: source(text), title: "A note" },
            ],
          },
        ],
      }),
    );
    assert.include(said, url);
    assert.include(said, png.toString("base64"));
    assert.notInclude(chatted + answered + said, "file_id");
  });

  it("belong to a tenant, and no other learns of them", async () => {
    const { id } = await upload(pdf, "secret.pdf", "application/pdf");
    const other = openai("key-b");
    assert.isEmpty((await other.files.list()).data);
    for (const tried of [
      () => other.files.retrieve(id),
      () => other.files.content(id),
      () => other.files.delete(id),
      () => anthropic("key-b").beta.files.download(id),
    ]) {
      assert.equal(await (tried() as Promise<unknown>).catch(failure), 404);
    }
    const asked = open.bodies().length;
    const stolen = { role: "user" as const, content: [{ type: "file" as const, file: { file_id: id } }] };
    assert.equal(await other.chat.completions.create({ model: "agent", messages: [stolen] }).catch(failure), 404);
    assert.lengthOf(open.bodies(), asked);
    assert.equal((await openai().files.retrieve(id)).filename, "secret.pdf");
  });

  it("have a bound: each of them, and all that one request names", async () => {
    const big = await upload(Buffer.alloc(250_000), "big.bin", "x/y").catch(failure);
    assert.equal(big, 413);
    const { id } = await upload(pdf, "a.pdf", "application/pdf");
    const many = Array.from({ length: 6 }, () => ({ type: "file" as const, file: { file_id: id } }));
    const asked = openai().chat.completions.create({ model: "agent", messages: [{ role: "user", content: many }] });
    assert.equal(await asked.catch(failure), 413);
  });

  it("have the type they were sent with, or that of their name when that is none", async () => {
    for (const [type, name, expected] of [
      ["text/csv; charset=utf-8", "a.txt", "text/csv"],
      ["", "a.PNG", "image/png"],
      ["nonsense", "a.md", "text/markdown"],
      ['text/\u00e9"<', "a", "application/octet-stream"],
    ] as const) {
      const body = `--b\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n--b\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n${type === "" ? "" : `content-type: ${type}\r\n`}\r\nx\r\n--b--\r\n`;
      const headers = { authorization: "Bearer key-a", "content-type": "multipart/form-data; boundary=b" };
      const made: Json = await (
        await fetch(`${open.url}/openai/v1/files`, { method: "POST", headers, body: Buffer.from(body, "latin1") })
      ).json();
      const content = await fetch(`${open.url}/openai/v1/files/${made.id}/content`, {
        headers: { authorization: headers.authorization },
      });
      assert.equal(content.status, 200, JSON.stringify(made));
      assert.match(content.headers.get("content-type") ?? "", new RegExp(`^${expected}`));
      assert.equal(await content.text(), "x");
    }
  });

  it("expire when their uploader said, and are gone then", async () => {
    const file = await openai().files.create({
      file: await toFile(png, "a.png"),
      purpose: "vision",
      expires_after: { anchor: "created_at", seconds: 0 },
    });
    assert.equal(await openai().files.retrieve(file.id).catch(failure), 404);
    assert.notInclude(
      (await openai().files.list()).data.map(({ id }) => id),
      file.id,
    );
  });

  it("come as a form with a file and a purpose; anything else is refused in the vendor's words", async () => {
    const headers = { authorization: "Bearer key-a" };
    const post = async (path: string, body: FormData | string, type?: string) => {
      const response = await fetch(open.url + path, {
        method: "POST",
        body,
        headers: { ...headers, ...(type === undefined ? {} : { "content-type": type }) },
      });
      return [response.status, ((await response.json()) as Json).error.type];
    };
    const refused = [400, "invalid_request_error"];
    const named = (name: string, value: string | Blob) => {
      const form = new FormData();
      form.set(name, value);
      return form;
    };
    assert.deepEqual(await post("/openai/v1/files", named("purpose", "user_data")), refused);
    assert.deepEqual(await post("/openai/v1/files", named("file", new Blob(["x"]))), refused);
    assert.deepEqual(await post("/openai/v1/files", "{}", "application/json"), refused);
    assert.deepEqual(await post("/openai/v1/files", "nonsense", "multipart/form-data; boundary=x"), refused);
    assert.deepEqual(await post("/openai/v1/files", "nonsense", "multipart/form-data"), refused);
    assert.deepEqual(await post("/anthropic/v1/files", named("file", "text")), refused);
    assert.deepEqual(await post("/openai/v1/chat/completions", named("model", "agent")), refused);
    for (const id of ["file-abc", "file-run_none", "..%2fx"]) {
      assert.equal((await fetch(`${open.url}/openai/v1/files/${id}`, { headers })).status, 404, id);
    }
  });
});
