import { spawnSync } from "node:child_process";
import { expect } from "chai";

describe("the HTTP server's start", () => {
  it("loads no validator or serializer but its own", () => {
    const listener = new URL("../../../src/host/http/listener.js", import.meta.url);
    const limits = { body: 1_000, headers: 8_000, request: 5_000 };
    const script = `
      import { createRequire } from "node:module";
      import { createHttp } from ${JSON.stringify(listener)};
      const app = await createHttp(${JSON.stringify(limits)}, { listen: { host: "127.0.0.1", port: 0 } });
      app.setValidatorCompiler(() => () => true);
      app.setSerializerCompiler(() => JSON.stringify);
      app.post("/", { schema: { body: {} } }, async () => ({}));
      await app.ready();
      console.log(Object.keys(createRequire(import.meta.url).cache).join("\\n"));
      await app.close();`;
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
    expect(stderr).to.equal("");
    expect(stdout).to.include("fastify/fastify.js");
    expect(stdout).not.to.match(/ajv|fast-json-stringify-compiler/);
  });
});
