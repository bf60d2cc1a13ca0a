import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { ProcessState } from "../../../src/host/processes/protocol.ts";

const bin = new URL("../../../src/cli/bin.js", import.meta.url).pathname;

/** `venturi start` of a service with several processes. */
export class Started {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  said = "";
  url = "";

  constructor(config: string, ...args: string[]) {
    const words = ["--no-warnings", bin, "start", "--config", config, ...args];
    this.child = spawn(process.execPath, words, { env: { ...process.env, NO_COLOR: "1" } });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.said += text;
        this.child.emit("said");
      });
    }
    this.ended = once(this.child, "close").then(([code]) => code as number | null);
    this.ended.then(() => this.child.emit("said"));
  }

  async listening(): Promise<this> {
    await this.until(() => /listening url=/.test(this.said));
    this.url = /listening url=(http:\S+)/.exec(this.said)?.[1] ?? "";
    return this;
  }

  /** Resolves when its log fulfils the condition. */
  async until(found: () => boolean): Promise<void> {
    while (!found()) {
      if (this.child.exitCode !== null) throw new Error(`it ended: ${this.said}`);
      await once(this.child, "said");
    }
  }

  /** On a connection of its own, so that each may reach another process. */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`${this.url}${path}`, { ...init, headers: { connection: "close", ...init.headers } });
  }

  /** None while the one that is asked cannot reach the supervisor. */
  async processes(): Promise<ProcessState[]> {
    type States = { processes?: ProcessState[] };
    const answer = (await (await this.fetch("/readyz")).json()) as States & { error?: { details?: States } };
    return answer.processes ?? answer.error?.details?.processes ?? [];
  }

  /** Until every process is as asked. */
  async all(status: ProcessState["status"], count: number): Promise<ProcessState[]> {
    for (;;) {
      const states = await this.processes().catch(() => []);
      if (states.length === count && states.every((each) => each.status === status)) return states;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async metric(name: string): Promise<number> {
    const text = await (await this.fetch("/metrics")).text();
    const lines = text.split("\n").filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
  }

  async start(agent: string, input = "go"): Promise<string> {
    const answer = await this.fetch("/v1/runs", {
      method: "POST",
      headers: { "content-type": "application/json", prefer: "respond-async" },
      body: JSON.stringify({ agent, input }),
    });
    return answer.headers.get("x-venturi-run") ?? "";
  }
}
