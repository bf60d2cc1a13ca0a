import { expect } from "chai";
import { dataUrl, parseDataUrl } from "../../src/core/values/data-url.ts";
import { audioFormat, isMediaType } from "../../src/core/values/media-type.ts";

const many = 8 * 1024 * 1024;

describe("a data: URL", () => {
  it("has a media type, parameters and data", () => {
    expect(parseDataUrl("data:image/png;base64,AAAA")).to.deep.equal({
      mediaType: "image/png",
      parameters: "",
      isBase64: true,
      data: "AAAA",
    });
    expect(parseDataUrl("data:text/plain;charset=utf-8,a%20b,c")).to.deep.equal({
      mediaType: "text/plain",
      parameters: ";charset=utf-8",
      isBase64: false,
      data: "a%20b,c",
    });
    expect(parseDataUrl("data:,x")).to.deep.include({ mediaType: "", isBase64: false, data: "x" });
    const part = { mediaType: "audio/wav", data: "UklG" };
    expect(parseDataUrl(dataUrl(part))).to.deep.include(part);
  });

  it("is none without a comma near its beginning, whatever its length", () => {
    for (const url of [
      "data:",
      "https://x.test/",
      "",
      `data:${"e".repeat(many)}`,
      `data:${";".repeat(400)},x`,
      "DATA,",
    ]) {
      expect(parseDataUrl(url), url.slice(0, 20)).to.equal(undefined);
    }
    expect(parseDataUrl(`data:;base64,${"e".repeat(many)}`)?.data.length).to.equal(many);
  });
});

describe("a media type", () => {
  it("is a type and a subtype, with parameters in printable characters", () => {
    for (const good of ["image/png", "image/*", "audio/x-wav", "text/plain; charset=utf-8", "application/vnd.a+json"]) {
      expect(isMediaType(good), good).to.equal(true);
    }
    const bad = [
      "",
      "image",
      "/",
      "a/b\n",
      `audio/${";".repeat(300)}`,
      "audio/;",
      "a/b;\u0000",
      "a".repeat(many),
      "é/x",
    ];
    for (const one of bad) expect(isMediaType(one), one.slice(0, 20)).to.equal(false);
  });

  it("names the format of audio, even where nobody checked it", () => {
    expect(["audio/mpeg", "audio/x-wav", "audio/vnd.wave", "audio/ogg; codecs=opus"].map(audioFormat)).to.deep.equal([
      "mp3",
      "wav",
      "wav",
      "ogg",
    ]);
    expect(audioFormat(`audio/${";".repeat(many)}\n`)).to.equal("");
  });
});
