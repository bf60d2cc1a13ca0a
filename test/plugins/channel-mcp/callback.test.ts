import { createHash } from "node:crypto";
import { expect } from "chai";
import type { EventOf, TerminalEvent } from "../../../src/core/run/events.ts";
import { isTerminal } from "../../../src/core/run/events.ts";
import type { Service } from "../../../src/host/service.ts";
import { freePort } from "../../chaos/port.ts";
import { testFolder } from "../../host/folder.ts";
import { type Faults, startProtected } from "../mcp/authorization-server.ts";
import { configuration, start } from "./service.ts";

describe("where a browser comes back to after signing in at an MCP server", () => {
  const folder = testFolder();
  const closing: { close(): Promise<unknown> }[] = [];
  afterEach(async () => {
    for (const one of closing.splice(0)) await one.close();
  });

  const open = async (faults: Faults = {}): Promise<Service> => {
    const protectedServer = await startProtected(faults);
    const port = await freePort();
    const auth = {
      redirectUrl: `http://127.0.0.1:${port}/mcp/callback`,
      secret: "of at least 16 characters",
      allowPrivate: protectedServer.hosts,
    };
    const turns = [{ calls: [{ name: "remote_connect", arguments: {} }] }, { text: "{{results}}" }];
    const scenarios = [{ name: "signs", advance: "round", turns }];
    const sha256 = createHash("sha256").update("a key for tests").digest("hex");
    const file = folder.write({
      "venturi.yaml": configuration({
        providers: { demo: { type: "simulator", wire: "anthropic", pace: 0, scenarios } },
        tools: { remote: { type: "mcp", url: protectedServer.url, auth } },
        agents: { signer: { model: "demo/signs", tools: ["remote"] } },
        channels: { mcp: {} },
        server: { listen: port, auth: { keys: [{ id: "acme", tenant: "acme", sha256 }] } },
      }),
    });
    const service = await start(file);
    closing.push({ close: () => service.drain("interrupt") }, protectedServer);
    return service;
  };

  /** Runs the agent; `visit` is what the person does with the question. */
  const run = async ({ host: { runs } }: Service, visit: (question: EventOf<"question.asked">) => Promise<unknown>) => {
    const { run: id } = await runs.start({ agent: "signer", input: { text: "go" } }, { tenant: "acme" });
    let last: TerminalEvent | undefined;
    for await (const batch of runs.follow(id)) {
      for (const event of batch) {
        if (event.type === "question.asked") await visit(event);
        if (isTerminal(event)) last = event;
      }
    }
    return last?.output ?? "";
  };
  /** As a browser: the person consents, and is sent back. */
  const consent = async ({ url }: EventOf<"question.asked">): Promise<string> =>
    (await fetch(url ?? "", { redirect: "manual" })).headers.get("location") ?? "";

  it("it answers the question that the sign-in belongs to, without a key, and the run goes on", async () => {
    const service = await open();
    let back = "";
    const output = await run(service, async (question) => {
      back = await consent(question);
      expect(back).to.contain(`${service.url.replace("localhost", "127.0.0.1")}/mcp/callback?`);
      const page = await fetch(back);
      expect([page.status, page.headers.get("content-type")]).to.deep.equal([200, "text/plain; charset=utf-8"]);
      expect(await page.text()).to.contain("Signed in");
    });
    expect(output).to.contain("whoami");
    // The address stays in the browser's history: used again, it says nothing and does nothing.
    const again = await fetch(back);
    expect(again.status).to.be.oneOf([200, 404]);
    expect(await again.text()).not.to.contain("run_");
  });

  it("unknown states are not found, whatever they look like, and the question stays open", async () => {
    const service = await open();
    const output = await run(service, async (question) => {
      const back = await consent(question);
      const state = new URL(back).searchParams.get("state") ?? "";
      const wrong = ["", "?state=", "?state=x", `?state=${state}x`, `?state=${state}&state=${state}`, "?state[]=x"];
      for (const query of [
        ...wrong,
        `?state=${"a".repeat(10_000)}`,
        "?state=%00",
        `?code=stolen&state=..%2f${state}`,
      ]) {
        const { status } = await fetch(`${service.url}/mcp/callback${query}`);
        expect(status, query).to.be.oneOf([400, 404, 414, 431]);
      }
      expect(await service.host.runs.pending(question.run)).to.have.length(1);
      await fetch(back);
    });
    expect(output).to.contain("whoami");
  });

  it("a person who refuses at the server is no sign-in; an answer of another issuer neither", async () => {
    const refused = await run(await open(), async (question) => {
      const back = new URL(await consent(question));
      back.searchParams.delete("code");
      back.searchParams.set("error", "access_denied");
      expect((await fetch(back)).status).to.equal(200);
    });
    expect(refused).not.to.contain("whoami");
    const mixed = await run(await open({ iss: "https://evil.example" }), async (question) => {
      await fetch(await consent(question));
    });
    expect(mixed).not.to.contain("whoami");
  });
});
