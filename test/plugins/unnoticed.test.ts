// Small changes of the tools that no other test noticed: each was found by `npm run mutate`.
import { expect } from "chai";
import { RemoteTask } from "../../plugins/a2a/task.ts";
import { LastLines } from "../../plugins/mcp/last-lines.ts";
import { UserCredentials } from "../../plugins/mcp/oauth/provider.ts";
import { toOutput } from "../../plugins/mcp/result.ts";
import { adaptVendorCall } from "../../plugins/shell/vendor-calls.ts";
import { splitWords } from "../../plugins/shell/words.ts";

describe("a command as words", () => {
  it("is split as a shell would, quotes and backslashes taken off", () => {
    for (const [text, words] of [
      ["ls -la", ["ls", "-la"]],
      [" ls\t -l ", ["ls", "-l"]],
      ["a 'b c' \"d e\" f\\ g", ["a", "b c", "d e", "f g"]],
      ["x''y ''", ["xy", ""]],
      ["git commit -m 'it''s'", ["git", "commit", "-m", "its"]],
      ["", []],
    ] as const)
      expect(splitWords(text), text).to.deep.equal(words);
  });

  it("is left to a shell where one would do more", () => {
    for (const text of ["a|b", "a && b", "a > b", "$HOME", "*.ts", "a 'b", 'a "$b"', "a\\", "A=1 b", "# x", "a\nb"])
      expect(splitWords(text), text).to.equal(undefined);
  });
});

describe("a vendor's shell call", () => {
  it("without settings is the command alone", () => {
    const action = { type: "exec", command: ["ls", "-l"], env: {}, user: null, working_directory: "" };
    expect(adaptVendorCall({ action })).to.deep.equal({ command: "ls", arguments: ["-l"] });
  });

  it("keeps what was asked for, and what nobody knows, to be refused by name", () => {
    const action = { command: ["bash", "-lc", "cd src && ls"], timeout_ms: 5, env: { A: "1" }, user: "root" };
    expect(adaptVendorCall({ action, environment: {} })).to.deep.equal({
      command: "ls",
      arguments: [],
      directory: "src",
      timeoutMs: 5,
      env: { A: "1" },
      user: "root",
    });
    expect(adaptVendorCall({ action: { commands: ["a b", "c | d"], max_output_length: 9 } })).to.deep.equal({
      command: "a",
      arguments: ["b"],
      next: [{ command: "sh", arguments: ["c | d"] }],
      maxOutput: 9,
    });
    expect(adaptVendorCall({ command: "ls" })).to.deep.equal({ command: "ls" });
  });
});

describe("the task of another service's agent", () => {
  const artifact = (text: string, append?: boolean) => ({
    artifactUpdate: { artifact: { artifactId: "a", parts: [{ text }] }, ...(append === undefined ? {} : { append }) },
  });

  it("tells the text of each update, and answers with the artifacts as they are at the end", () => {
    const task = new RemoteTask();
    task.take({ task: { id: "t", status: { state: "TASK_STATE_WORKING" } } });
    expect(task.isOver).to.equal(false);
    expect(task.take(artifact("one"))).to.equal("one");
    expect(task.take(artifact(" two", true))).to.equal(" two");
    expect(task.take(artifact(" three", true))).to.equal(" three");
    task.take({ statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } });
    expect([task.isOver, task.output()]).to.deep.equal([true, "one two three"]);
    expect(task.take(artifact("anew", false))).to.equal("anew");
    expect(task.output()).to.equal("anew");
    expect(() => task.take({ task: { id: "another" } })).to.throw("another task");
  });
});

describe("the files of another service's answer", () => {
  it("have the names and types that it gives, pictures apart", () => {
    const task = new RemoteTask();
    const parts = [
      { text: "see" },
      { data: { a: 1 } },
      { raw: "aGk=", mediaType: "image/png", filename: "" },
      { raw: "aGk=", filename: "a.bin" },
    ];
    task.take({ message: { parts } });
    expect(task.output()).to.deep.include({
      text: 'see\n{"a":1}',
      images: [{ mediaType: "image/png", data: "aGk=" }],
      files: [{ mediaType: "application/octet-stream", data: "aGk=", name: "a.bin" }],
    });
  });
});

describe("the last words of a server", () => {
  it("are its last five lines of at most 2,000 characters, once", () => {
    const lines = new LastLines();
    expect(lines.said()).to.equal("");
    lines.take("x".repeat(3_000));
    for (let line = 1; line <= 6; line++) lines.take(`\nline ${line}\n\n`);
    expect(lines.said()).to.equal("; its last words: line 2 / line 3 / line 4 / line 5 / line 6");
    expect(lines.said()).to.equal("");
    lines.take("y".repeat(3_000));
    expect(lines.said()).to.have.length("; its last words: ".length + 2_000);
  });
});

describe("the result of a server's tool", () => {
  const same = (text: string) => text;
  const image = { type: "image", mimeType: "image/png", data: "aGk=" };

  it("is its text, its structure where there is no text, and its pictures beside it", () => {
    expect(toOutput({ content: [] }, same)).to.equal("");
    expect(toOutput({ content: [{ type: "text", text: "a" }], structuredContent: { b: 1 } }, same)).to.equal("a");
    expect(toOutput({ content: [], structuredContent: { b: 1 } }, same)).to.equal('{"b":1}');
    expect(toOutput({ content: [{ type: "text", text: "a" }, image] }, same)).to.deep.include({
      text: "a",
      images: [{ mediaType: "image/png", data: "aGk=" }],
    });
    const pdf = { uri: "file:///x/report.pdf", mimeType: "application/pdf", blob: "aGk=" };
    expect(toOutput({ content: [{ type: "resource", resource: pdf }] }, same)).to.deep.include({
      files: [{ mediaType: "application/pdf", data: "aGk=", name: "report.pdf" }],
    });
    expect(() => toOutput({ content: [{ type: "text", text: "no" }], isError: true }, same)).to.throw("no");
  });
});

describe("a user's credentials at a server", () => {
  function credentials(options: object = {}) {
    let kept: Record<string, unknown> = {};
    const sealed = {
      read: async () => kept,
      change: async (_: string, change: (before: object) => object) => {
        kept = { ...change(kept) } as typeof kept;
      },
    };
    const made = new UserCredentials(sealed as never, "u", { redirectUrl: "http://127.0.0.1/cb", ...options } as never);
    return { made, keys: () => Object.keys(kept).sort() };
  }

  it("say what this client does, and no scope that nobody set", () => {
    expect(credentials().made.clientMetadata).to.deep.equal({
      client_name: "Venturi",
      redirect_uris: ["http://127.0.0.1/cb"],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
    });
    expect(credentials({ scope: "read", clientSecret: "s" }).made.clientMetadata).to.deep.include({
      scope: "read",
      token_endpoint_auth_method: "client_secret_basic",
    });
  });

  it("lose what is invalid, and nothing else", async () => {
    for (const [what, left] of [
      ["client", ["discovery", "pending", "tokens"]],
      ["tokens", ["clients", "discovery", "pending"]],
      ["discovery", ["clients", "pending", "tokens"]],
      ["verifier", ["clients", "discovery", "tokens"]],
      ["all", []],
    ] as const) {
      const { made, keys } = credentials();
      await made.saveClientInformation({ client_id: "c" } as never);
      await made.saveTokens({ access_token: "t", token_type: "bearer" } as never);
      await made.saveDiscoveryState({} as never);
      await made.redirectToAuthorization(new URL("http://127.0.0.1/auth"));
      expect(keys()).to.deep.equal(["clients", "discovery", "pending", "tokens"]);
      await made.tokens();
      await made.invalidateCredentials(what);
      expect(keys(), what).to.deep.equal(left);
    }
  });

  it("keep tokens that somebody else has renewed meanwhile", async () => {
    const { made, keys } = credentials();
    await made.saveTokens({ access_token: "old", token_type: "bearer" } as never);
    await made.tokens();
    await made.saveTokens({ access_token: "new", token_type: "bearer" } as never);
    await made.invalidateCredentials("tokens");
    expect(keys()).to.deep.equal(["tokens"]);
  });
});
