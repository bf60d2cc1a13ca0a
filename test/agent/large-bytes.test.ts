import { createHash } from "node:crypto";
import { assert } from "chai";
import {
  base64OfPieces,
  bytesOfBase64,
  bytesOfText,
  hashOf,
  piecesOf,
  textOfPieces,
} from "../../src/agent/run/large-bytes.ts";

const texts = ["", "é", "x".repeat(300_001), "€\n".repeat(200_000), `a${"\ud83d\ude00".repeat(150_000)}`];

describe("large content", () => {
  it("gives the same bytes, hash and text as in one piece", async () => {
    for (const text of texts) {
      const bytes = await bytesOfText(text);
      assert.isTrue(bytes.equals(Buffer.from(text)));
      assert.equal(await hashOf(bytes), createHash("sha256").update(bytes).digest("hex"));
      assert.isTrue((await textOfPieces(piecesOf(bytes))) === text);
      assert.isTrue((await base64OfPieces(piecesOf(bytes))) === bytes.toString("base64"));
    }
  });

  it("is decoded from base64 as Node does, whichever way it is written", async () => {
    const bytes = Buffer.from("\u00fb\u00ff lorem".repeat(70_001), "latin1");
    const plain = bytes.toString("base64");
    const lines = plain.replace(/.{76}/g, "$&\r\n");
    for (const data of [
      plain,
      plain.replace(/=+$/, ""),
      bytes.toString("base64url"),
      lines,
      `${plain}\n`,
      "%".repeat(400_000),
    ])
      assert.isTrue((await bytesOfBase64(data)).equals(Buffer.from(data, "base64")), data.slice(0, 90));
  });
});
