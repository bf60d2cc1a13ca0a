import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import http from "../../../plugins/http/index.ts";
import mcp from "../../../plugins/mcp/index.ts";
import type { ToolSource } from "../../../src/core/ports/tool.ts";
import { placeOf } from "../../../src/provider/egress/addresses.ts";
import { Egress } from "../../../src/provider/egress/egress.ts";
import { egressFetch } from "../../../src/provider/egress/fetch.ts";
import { callTool, testPluginContext, toolNamed } from "../../../src/testing.ts";
import { NameServer } from "./name-server.ts";

/** A public address that nothing here ever connects to. */
const publicAddress = "93.184.216.34";

describe("egress", function () {
  this.timeout(180_000);
  let names: NameServer;
  let nameServers: string[];
  let inside: Server;
  let port = 0;
  let reached = 0;

  beforeEach(async () => {
    names = new NameServer();
    nameServers = [await names.listen()];
    reached = 0;
    inside = createServer((_request, response) => {
      reached++;
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
    inside.listen(0, "127.0.0.1");
    await once(inside, "listening");
    port = (inside.address() as AddressInfo).port;
  });
  afterEach(() => {
    names.close();
    inside.closeAllConnections();
    inside.close();
  });

  const codeOf = (promise: Promise<unknown>) =>
    promise.then(
      () => "answered",
      (thrown) => String(thrown.code ?? thrown),
    );
  const lookup = (egress: Egress, name: string, all: boolean): Promise<unknown> =>
    new Promise((resolve, reject) =>
      egress.lookup(["public"])(name, { all }, (failure, address) => (failure ? reject(failure) : resolve(address))),
    );

  it("what was checked is what is connected to: a name is asked for once, whatever it means a moment later", async () => {
    const egress = new Egress({ hosts: [`rebind.test:${port}`], allowPrivate: [], nameServers });
    for (const all of [true, false]) {
      names.say("rebind.test", [publicAddress], ["127.0.0.1"]);
      names.asked.length = 0;
      const got = await lookup(egress, "rebind.test", all);
      expect(got).to.deep.equal(all ? [{ address: publicAddress, family: 4 }] : publicAddress);
      expect(names.asked).to.deep.equal(["rebind.test"]);
      expect(await codeOf(lookup(egress, "rebind.test", all))).to.equal("tool_denied");
    }
  });

  it("a name that turns to a private address is refused at the connection, and nothing inside is reached", async () => {
    const { fetch, close } = egressFetch(new Egress({ hosts: [`rebind.test:${port}`], allowPrivate: [], nameServers }));
    const url = `http://rebind.test:${port}/`;
    for (const answers of [
      ["127.0.0.1"],
      ["10.0.0.1"],
      ["169.254.169.254"],
      [publicAddress, "127.0.0.1"],
      ["0.0.0.0"],
    ]) {
      names.say("rebind.test", answers);
      expect(await codeOf(fetch(url)), answers.join()).to.equal("tool_denied");
    }
    expect(reached).to.equal(0);
    await close();
  });

  it("allowPrivate lets a name be in a private network, and never at a link-local address", async () => {
    const allowPrivate = [`own.test:${port}`];
    const { fetch, close } = egressFetch(new Egress({ hosts: [`own.test:${port}`], allowPrivate, nameServers }));
    names.say("own.test", ["127.0.0.1"]);
    expect((await fetch(`http://own.test:${port}/`)).status).to.equal(200);
    await close();
    const again = egressFetch(new Egress({ hosts: [`own.test:${port}`], allowPrivate, nameServers }));
    names.say("own.test", ["169.254.169.254"]);
    expect(await codeOf(again.fetch(`http://own.test:${port}/`))).to.equal("tool_denied");
    await again.close();
  });

  it("hosts that are not on the list, redirects, user names and other protocols are refused", async () => {
    const egress = new Egress({ hosts: ["api.test", "*.sub.test:8443"], allowPrivate: [] });
    for (const good of ["https://api.test/x", "http://api.test", "https://a.b.sub.test:8443/"])
      egress.check(new URL(good));
    for (const bad of [
      "https://api.test:8443/",
      "https://sub.test:8443",
      "https://evilsub.test:8443",
      "https://api.test.evil/",
      "ftp://api.test",
      "https://u:p@api.test",
      "http://[::1]/",
    ]) {
      expect(() => egress.check(new URL(bad)), bad)
        .to.throw()
        .with.property("code", "tool_denied");
    }
    const redirecting = createServer((_request, response) => {
      response.writeHead(302, { location: `http://127.0.0.1:${port}/` }).end();
    }).listen(0, "127.0.0.1");
    await once(redirecting, "listening");
    const host = `127.0.0.1:${(redirecting.address() as AddressInfo).port}`;
    const { fetch, close } = egressFetch(new Egress({ hosts: [host], allowPrivate: [host] }));
    expect(await codeOf(fetch(`http://${host}/`))).not.to.equal("answered");
    expect(reached).to.equal(0);
    await close();
    redirecting.close();
  });

  it("the http tool and an MCP server over HTTP keep to it", async () => {
    names.say("rebind.test", ["127.0.0.1"]);
    const context = testPluginContext({ name: "api", folder: "." });
    const url = `http://rebind.test:${port}/mcp`;
    const operation = (scheme: string) => ({ description: "Gets it all", url: url.replace("http", scheme) });
    const operations = { plain: operation("http"), safe: operation("https") };
    const source = (await http.create(http.options.parse({ nameServers, operations }), context)) as ToolSource & {
      close(): void;
    };
    for (const name of ["api_plain", "api_safe"])
      expect(await codeOf(callTool(toolNamed(source, name), {})), name).to.equal("tool_denied");
    source.close();
    const connecting = Promise.resolve(
      mcp.create(mcp.options.parse({ url, nameServers, connectTimeout: "30s" }), context),
    );
    const message = await connecting.then(() => "connected", String);
    expect(message).to.contain("private address");
    expect(reached).to.equal(0);
    const listed = mcp.options.parse({
      url: `http://127.0.0.1:${port}/mcp`,
      hosts: ["other.test"],
      connectTimeout: "30s",
    });
    expect(await Promise.resolve(mcp.create(listed, context)).then(() => "connected", String)).to.contain(
      "not on the list",
    );
    expect(reached).to.equal(0);
  });

  it("knows where an address is, however it is written", () => {
    const places = {
      public: ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "172.32.0.1", "100.128.0.1"],
      private: [
        "127.0.0.1",
        "127.9.9.9",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "::1",
        "fd00::1",
        "::ffff:127.0.0.1",
        "::ffff:7f00:1",
        "::ffff:10.0.0.1",
      ],
      forbidden: [
        "0.0.0.0",
        "169.254.169.254",
        "224.0.0.1",
        "255.255.255.255",
        "240.0.0.1",
        "192.0.2.1",
        "198.18.0.1",
        "203.0.113.1",
        "::",
        "fe80::1",
        "fe80::1%eth0",
        "ff02::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "64:ff9b::7f00:1",
        "2001::1",
        "::7f00:1",
        "fec0::1",
        "::ffff:169.254.169.254",
        "no address",
      ],
    };
    for (const [place, addresses] of Object.entries(places)) {
      for (const address of addresses) expect(placeOf(address), address).to.equal(place);
    }
  });
});
