import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NewSessionResponse, SessionUpdate, SetSessionConfigOptionResponse } from "@agentclientprotocol/sdk";
import { expect } from "chai";
import { sampled } from "../../sweep.ts";
import { callsIn, choose, configuration, Editor, openCalls, pay, textOf } from "./editor.ts";

/** One process for all: each test has sessions of its own. */
describe("agents in an editor", () => {
  let folder = "";
  let editor: Editor;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "venturi-acp-"));
    mkdirSync(join(folder, "work"));
    writeFileSync(join(folder, "venturi.yaml"), configuration());
    writeFileSync(join(folder, "pay.mjs"), pay);
    editor = new Editor(["--config", join(folder, "venturi.yaml")]);
    await editor.open();
  });
  after(async () => {
    expect(await editor.close()).to.equal(0);
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    editor.permit = () => choose("allow");
    editor.onUpdate = () => {};
    editor.asked.length = 0;
  });

  /** A session that talks to this agent. */
  const talkingTo = async (agent: string): Promise<string> => {
    const session = await editor.session();
    await editor.mode(session, agent);
    return session;
  };
  const refusal = (asked: Promise<unknown>) =>
    asked.then(
      () => undefined,
      (thrown: { code: number; message: string }) => thrown,
    );

  it("an answer streams as thoughts and messages, in order", async () => {
    const { stop, updates } = await editor.prompt(await talkingTo("talk"));
    expect(stop).to.equal("end_turn");
    expect(textOf(updates, "agent_thought_chunk")).to.equal("let me think");
    expect(textOf(updates)).to.equal("hello from here");
    const kinds = updates.map(({ sessionUpdate }) => sessionUpdate);
    expect(kinds.lastIndexOf("agent_thought_chunk")).to.be.below(kinds.indexOf("agent_message_chunk"));
  });

  it("writes are shown as diffs of absolute paths, also when the session is loaded later", async () => {
    const session = await talkingTo("coder");
    const { updates } = await editor.prompt(session);
    const path = join(folder, "work", "a.txt");
    const diffs = (of: readonly SessionUpdate[]) =>
      callsIn(of).map(({ content }) => (content as { type: string }[]).filter(({ type }) => type === "diff"));
    const diff = (oldText: string | null, newText: string) => ({ type: "diff", path, oldText, newText });
    expect(diffs(updates)).to.deep.equal([
      [diff(null, "one\ntwo\n")],
      [diff("two", "three")],
      [diff("one\nthree", "one\nfour")],
      [],
      [diff("one\nfour\n", "all new\n")],
      [],
    ]);
    expect(callsIn(updates).map(({ kind, status }) => `${kind} ${status}`)).to.deep.equal([
      "edit completed",
      "edit completed",
      "edit completed",
      "read completed",
      "edit completed",
      "edit failed",
    ]);
    expect(callsIn(updates)[0]?.locations).to.deep.equal([{ path }]);
    expect(readFileSync(path, "utf8")).to.equal("all new\n");
    const loaded = await editor.load(session);
    expect(diffs(loaded)).to.deep.equal(diffs(updates));
    expect(callsIn(loaded)).to.deep.equal(callsIn(updates));
    expect(textOf(loaded, "user_message_chunk")).to.equal("go");
    expect(textOf(loaded)).to.equal(textOf(updates));
  });

  it("a call that needs approval asks with its arguments, and only a clear yes runs it", async () => {
    const session = await talkingTo("payer");
    const allowed = await editor.prompt(session);
    expect(textOf(allowed.updates)).to.contain("paid 10");
    expect(editor.asked[0]).to.deep.include({ sessionId: session });
    expect(JSON.stringify(editor.asked[0])).to.contain('"rawInput":{"amount":10}').and.to.contain("allow_always");
    const noes = [
      choose("reject"),
      choose("nonsense"),
      { outcome: { outcome: "cancelled" as const } },
      {} as never,
      null as never,
      { outcome: "allow" } as never,
      { outcome: { outcome: "selected" } } as never,
      undefined,
    ];
    for (const no of noes) {
      editor.permit = () => {
        if (no === undefined) throw new Error("I cannot ask");
        return no;
      };
      const { stop, updates } = await editor.prompt(session);
      expect(stop).to.equal("end_turn");
      expect(textOf(updates)).not.to.contain("paid");
      expect(callsIn(updates).map(({ status }) => status)).to.deep.equal(["failed"]);
    }
  });

  it("allowed always, a tool is not asked about again in its session, but in another", async () => {
    const session = await talkingTo("payer");
    editor.permit = () => choose("always");
    for (let round = 0; round < 2; round++) {
      expect(textOf((await editor.prompt(session)).updates)).to.contain("paid 10");
    }
    expect(editor.asked).to.have.length(1);
    await editor.prompt(await talkingTo("payer"));
    expect(editor.asked).to.have.length(2);
  });

  it("a question with choices is asked with them", async () => {
    editor.permit = ({ options }) => choose(options[1]?.optionId ?? "");
    const { updates } = await editor.prompt(await talkingTo("chooser"));
    expect(textOf(updates)).to.contain("blue");
    expect(openCalls(updates)).to.deep.equal([]);
  });

  it("an open question is asked in the conversation, and the next message is its answer", async () => {
    const session = await talkingTo("asker");
    const asked = await editor.prompt(session);
    expect(asked.stop).to.equal("end_turn");
    expect(textOf(asked.updates)).to.contain("Which name?");
    const answered = await editor.prompt(session, "Ann");
    expect(textOf(answered.updates)).to.contain("Ann");
    const { sessions } = await editor.agent.request("session/list", {});
    expect(sessions.filter(({ sessionId }) => sessionId === session)).to.have.length(1);
  });

  it("an answer that does not fit is asked for again", async () => {
    const session = await talkingTo("former");
    await editor.prompt(session);
    expect(textOf((await editor.prompt(session, "many")).updates)).to.contain("That does not fit");
    expect(textOf((await editor.prompt(session, '{"count":3}')).updates)).to.contain("3");
  });

  it("cancelled while a question is open, the run ends and nothing waits for an answer", async () => {
    const session = await talkingTo("asker");
    await editor.prompt(session);
    await editor.agent.notify("session/cancel", { sessionId: session });
    const { updates } = await editor.prompt(session, "a new matter");
    expect(textOf(updates)).to.contain("Which name?");
    await editor.agent.notify("session/cancel", { sessionId: session });
  });

  const lastWords = { slow: "nine ten", payer: "", coder: "done", chooser: "" };
  for (const [agent, words] of Object.entries(lastWords)) {
    it(`cancelled at each of its updates, ${agent} ends as cancelled with no call left open`, async () => {
      const session = await talkingTo(agent);
      for (const at of sampled(Array(40).keys(), agent === "coder" ? 4 : 1)) {
        let seen = 0;
        const cancel = () => editor.agent.notify("session/cancel", { sessionId: session });
        editor.onUpdate = () => {
          if (seen++ === at) void cancel();
        };
        editor.permit = async () => {
          if (at % 2 === 0) await cancel();
          return { outcome: { outcome: "cancelled" } };
        };
        const turn = editor.prompt(session);
        if (at === 0) await cancel();
        const { stop, updates } = await turn;
        expect(openCalls(updates)).to.deep.equal([]);
        if (seen <= at && stop === "end_turn") return;
        // The answer may have been complete when it was cancelled.
        if (stop === "end_turn") expect(textOf(updates)).to.match(new RegExp(`${words}$`));
        else expect(stop).to.equal("cancelled");
      }
    });
  }

  it("a plan that the agent keeps in its memory is shown as one", async () => {
    const { updates } = await editor.prompt(await talkingTo("planner"));
    const plans = updates.filter((update) => update.sessionUpdate === "plan");
    expect(plans.map(({ entries }) => entries)).to.deep.equal([
      [{ content: "look", status: "pending", priority: "medium" }],
      [{ content: "look", status: "completed", priority: "medium" }],
    ]);
  });

  it("ends by a limit or a refusal have their stop reasons, failures their code", async () => {
    expect((await editor.prompt(await talkingTo("cut"))).stop).to.equal("max_tokens");
    expect((await editor.prompt(await talkingTo("refuser"))).stop).to.equal("refusal");
    expect((await editor.prompt(await talkingTo("endless"))).stop).to.equal("max_turn_requests");
    const failing = await talkingTo("failing");
    expect(await refusal(editor.prompt(failing))).to.include({ code: -32603 });
    expect(textOf(await editor.load(failing))).to.contain("no such luck");
  });

  it("agents are modes, and a session takes up its agent and model again", async () => {
    const session = await talkingTo("talk");
    const options = { sessionId: session, configId: "model", value: "demo/cut" };
    const { configOptions } = await editor.agent.request<SetSessionConfigOptionResponse>(
      "session/set_config_option",
      options,
    );
    expect(configOptions.map(({ id, currentValue }) => `${id} ${currentValue}`)).to.deep.equal([
      "agent talk",
      "model demo/cut",
    ]);
    expect((await editor.prompt(session)).stop).to.equal("max_tokens");
    const resumed = await editor.agent.request("session/resume", { sessionId: session, cwd: "/project" });
    expect(resumed.modes?.currentModeId).to.equal("talk");
    expect(resumed.configOptions?.[1]).to.include({ currentValue: "demo/cut" });
  });

  it("an editor's MCP servers are reported as not used", async () => {
    const mcpServers = [{ name: "mine", command: "/bin/false", args: [], env: [] }];
    const asked = editor.agent.request<NewSessionResponse>("session/new", { cwd: "/project", mcpServers });
    const { _meta } = await asked;
    expect(_meta).to.deep.equal({ "venturi/unused": { mcpServers: ["mine"] } });
  });

  it("sessions are listed once, newest first, by their folder", async () => {
    const sessions: string[] = [];
    for (let count = 0; count < 3; count++) {
      sessions.unshift(await editor.session("/listed"));
      await editor.prompt(sessions[0] ?? "", `number ${count}`);
      await editor.prompt(sessions[0] ?? "", `number ${count} again`);
    }
    const listed = await editor.agent.request("session/list", { cwd: "/listed" });
    expect(listed.sessions.map(({ sessionId }) => sessionId)).to.deep.equal(sessions);
    expect(listed.sessions[0]).to.include({ title: "number 2 again", cwd: "/listed" });
    expect((await editor.agent.request("session/list", { cwd: "/elsewhere" })).sessions).to.deep.equal([]);
  });

  it("a second prompt in the same session is refused while the first goes on", async () => {
    const session = await talkingTo("slow");
    const first = editor.prompt(session);
    expect(await refusal(editor.prompt(session))).to.include({ code: -32600 });
    await editor.agent.notify("session/cancel", { sessionId: session });
    expect((await first).stop).to.equal("cancelled");
  });

  it("sessions that are not there, and values that do not fit, are refused by name", async () => {
    const { agent } = editor;
    const session = await talkingTo("talk");
    const cases: [string, unknown, number][] = [
      ["session/prompt", { sessionId: "nobody", prompt: [] }, -32002],
      ["session/load", { sessionId: "../../etc/passwd", cwd: "/", mcpServers: [] }, -32002],
      ["session/resume", { sessionId: "", cwd: "/" }, -32002],
      ["session/set_mode", { sessionId: session, modeId: "nobody" }, -32602],
      ["session/set_config_option", { sessionId: session, configId: "model", value: "nobody" }, -32602],
      ["session/set_config_option", { sessionId: session, configId: "__proto__", value: "x" }, -32602],
      ["session/prompt", { sessionId: session, prompt: "text" }, -32602],
      ["session/prompt", { sessionId: session, prompt: [{ type: "image", data: 7 }] }, -32602],
      ["session/new", { cwd: 7 }, -32602],
      ["session/nonsense", {}, -32601],
    ];
    for (const [method, params, code] of cases) {
      expect(await refusal(agent.request(method, params)), method).to.include({ code });
    }
    await agent.notify("session/cancel", { sessionId: "nobody" });
    expect((await editor.prompt(session)).stop).to.equal("end_turn");
  });
});
