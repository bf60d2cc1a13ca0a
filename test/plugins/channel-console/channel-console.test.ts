import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import plugin from "../../../plugins/channel-console/index.ts";
import { hello, keyOf, serve, type TestService } from "../../service.ts";

const assets = fileURLToPath(new URL("../../../plugins/channel-console/assets/", import.meta.url));

describe("the console's files", () => {
  let service: TestService;
  before(async () => {
    service = await serve({
      scripts: { greeter: hello },
      channels: [{ plugin }],
      settings: { auth: { keys: [keyOf("ada", "secret-of-ada")] } },
    });
  });
  after(() => service.close());

  it("come without a key, since there is nothing secret in them", async () => {
    const page = await fetch(`${service.url}/console/`);
    expect(page.status).to.equal(200);
    const html = await page.text();
    for (const [, path = ""] of html.matchAll(/(?:src|href)="([^"]+)"/g)) {
      const file = await fetch(service.url + path);
      expect(file.status, path).to.equal(200);
      if (!path.endsWith(".svg")) expect(file.headers.get("cache-control")).to.match(/immutable/);
    }
    expect(page.headers.get("cache-control")).to.equal("no-store");
  });

  it("every path below is the page, and a missing file is not", async () => {
    for (const path of ["/console/runs/run_1", "/console/chat/a.b/c%20d", "/console/..%2f..%2fetc%2fpasswd"]) {
      const answer = await fetch(service.url + path);
      expect(answer.headers.get("content-type"), path).to.match(/html/);
      expect(await answer.text()).to.match(/<div id="app">/);
    }
    expect((await fetch(`${service.url}/console/app-00000000.js`)).status).to.equal(404);
    const start = await fetch(service.url, { redirect: "manual" });
    expect([start.status, start.headers.get("location")]).to.deep.equal([302, "/console/"]);
  });

  it("may run their own scripts and nothing else, and make no markup of a string", async () => {
    const { headers } = await fetch(`${service.url}/console/`);
    const policy = headers.get("content-security-policy") ?? "";
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "connect-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "form-action 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ]) {
      expect(policy.split("; ")).to.include(part);
    }
    expect(policy).not.to.match(/unsafe|https?:/);
    expect(headers.get("cross-origin-opener-policy")).to.equal("same-origin");
  });

  it("are sent compressed to a browser that takes it", async () => {
    const html = await (await fetch(`${service.url}/console/`)).text();
    const script = /src="([^"]+)"/.exec(html)?.[1] ?? "";
    for (const encoding of ["br", "gzip"]) {
      const answer = await fetch(service.url + script, { headers: { "accept-encoding": encoding } });
      expect(answer.headers.get("content-encoding")).to.equal(encoding);
      expect((await answer.text()).length).to.be.greaterThan(10_000);
    }
  });

  it("are small: 60 kB of scripts and 12 kB of style before the first page is usable, in at most 5 requests", () => {
    const { firstLoad } = JSON.parse(readFileSync(`${assets}meta.json`, "utf8")) as { firstLoad: string[] };
    const size = (name: string) => gzipSync(readFileSync(assets + name), { level: 9 }).length;
    const scripts = firstLoad.reduce((sum, name) => sum + size(name), 0);
    const style = /href="\{path\}\/(style-[^"]+)"/.exec(readFileSync(`${assets}index.html`, "utf8"))?.[1] ?? "";
    expect(scripts).to.be.within(20_000, 60_000);
    expect(size(style)).to.be.within(2_000, 12_000);
    expect(firstLoad.length + 1).to.be.at.most(5);
  });

  it("load nothing from another host", () => {
    const page = readFileSync(`${assets}index.html`, "utf8");
    expect(page).not.to.match(/https?:\/\//);
  });
});
