import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { build } from "esbuild";

const entry = fileURLToPath(new URL("../../src/doors/client.js", import.meta.url));

describe("the size of venturi/client", () => {
  it("is at most 6.25 KiB of gzip when bundled for a browser, with nothing of another package", async () => {
    const bundle = await build({
      entryPoints: [entry],
      bundle: true,
      minify: true,
      format: "esm",
      platform: "browser",
      write: false,
      metafile: true,
    });
    const [file] = bundle.outputFiles;
    expect(gzipSync(file?.contents ?? "", { level: 9 }).length).to.be.within(1000, 6400);
    const inputs = Object.keys(bundle.metafile.inputs);
    expect(inputs.filter((path) => !/(?:^|\/)dist\/src\/(?:client|doors)\//.test(path))).to.deep.equal([]);
  });
});
