import { isDeepStrictEqual } from "node:util";
import { HttpAgent } from "@ag-ui/client";
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import { type WebSocket as Socket, WebSocket } from "ws";
import { type Answer, answerOf } from "../../src/cli/approve.ts";
import { watchRun } from "../../src/cli/watch-run.ts";
import { VenturiClient } from "../../src/client/client.ts";
import type { Runs } from "../../src/core/ports/runs.ts";
import type { EventOf } from "../../src/core/run/events.ts";
import type { Venturi } from "../../src/index.ts";
import { venturi as command } from "../cli/venturi.ts";

/** What whoever answers is told: taken, it does not fit, or somebody (or the time) was faster. */
type Told = "taken" | "refused" | "late";

export interface AskedThere {
  readonly run: string;
  readonly call: string;
  readonly message: string;
  readonly choices?: unknown;
  readonly schema?: unknown;
  answer(answer: unknown): Promise<Told>;
}

/** Starts the agent and waits until the channel shows its question. */
export type Door = (agent: string) => Promise<AskedThere>;

type Shown = Pick<EventOf<"question.asked">, "run" | "call" | "message" | "choices" | "schema">;

const toldBy = (code: unknown): Told => {
  if (code === "invalid_input") return "refused";
  if (code === "conflict") return "late";
  throw new Error(`told ${String(code)}`);
};
const toldIn = (text: string): Told => toldBy(/invalid_input|conflict/.exec(text)?.[0] ?? text);
const byError = (thrown: { code?: unknown }): Told => toldBy(thrown.code);

async function asked(runs: Runs, run: string): Promise<EventOf<"question.asked">> {
  for await (const batch of runs.follow(run)) {
    for (const event of batch) if (event.type === "question.asked") return event;
  }
  throw new Error("nothing was asked");
}

export const overHttp =
  (url: string): Door =>
  async (agent) => {
    const post = (path: string, body: unknown) =>
      fetch(`${url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", prefer: "respond-async" },
        body: JSON.stringify(body),
      });
    const { run } = (await (await post("/v1/runs", { agent, input: "plan" })).json()) as { run: string };
    const events = await (await fetch(`${url}/v1/runs/${run}/events`)).body?.getReader();
    let text = "";
    for (const decoder = new TextDecoder(); !/"question.asked".*\n\n/.test(text); ) {
      text += decoder.decode((await events?.read())?.value, { stream: true });
    }
    await events?.cancel();
    const line = text.split("\n").find((each) => each.startsWith("data:") && each.includes('"question.asked"'));
    const shown = JSON.parse(line?.slice(5) ?? "") as Shown;
    return {
      ...shown,
      async answer(answer) {
        const response = await post(`/v1/runs/${run}/questions/${shown.call}`, { answer });
        return response.status === 202 ? "taken" : toldIn(await response.text());
      },
    };
  };

export const overClient =
  (url: string): Door =>
  async (agent) => {
    const run = await new VenturiClient({ url }).start({ agent, input: "plan" });
    for await (const event of run.events()) {
      if (event.type !== "question.asked") continue;
      return { ...event, answer: (answer) => run.answer(event.call, answer).then(() => "taken" as const, byError) };
    }
    throw new Error("nothing was asked");
  };

/** `sockets`: closed by the test. */
export const overSocket =
  (url: string, sockets: Set<Socket>): Door =>
  async (agent) => {
    const socket = new WebSocket(`${url.replace("http", "ws")}/ws`);
    sockets.add(socket);
    const waiting = new Set<{ fits: (message: Sent) => boolean; seen: (message: Sent) => void }>();
    const next = (fits: (message: Sent) => boolean) =>
      new Promise<Sent>((seen) => {
        waiting.add({ fits, seen });
      });
    socket.on("message", (data) => {
      const message = JSON.parse(String(data)) as Sent;
      for (const each of waiting) if (each.fits(message)) each.seen(message);
    });
    await new Promise((resolve) => socket.once("open", resolve));
    const question = next(({ type }) => type === "question");
    socket.send(JSON.stringify({ type: "run", agent, input: "plan" }));
    const shown = await question;
    let sent = 0;
    return {
      ...shown,
      async answer(answer) {
        const id = `answer-${sent++}`;
        const failed = next((message) => message.id === id);
        const taken = next(
          (message) => message.type === "question_result" && isDeepStrictEqual(message.answer, answer),
        );
        socket.send(JSON.stringify({ type: "answer", id, run: shown.run, call: shown.call, answer }));
        const { error } = await Promise.race([failed, taken]);
        return error === undefined ? "taken" : toldBy(error.code);
      },
    };
  };
type Sent = Shown & { type: string; id?: string; answer?: unknown; error?: { code: string } };

export const overAiSdk =
  (url: string): Door =>
  async (agent) => {
    const transport = new DefaultChatTransport({ api: `${url}/ai-sdk/${agent}` });
    const user: UIMessage = { id: "u1", role: "user", parts: [{ type: "text", text: "plan" }] };
    const send = async (messages: UIMessage[], message?: UIMessage): Promise<UIMessage> => {
      const trigger = "submit-message" as const;
      const to = { chatId: "chat", messages, trigger, messageId: undefined, abortSignal: undefined };
      const stream: ReadableStream<UIMessageChunk> = await transport.sendMessages(to);
      let last: UIMessage | undefined;
      for await (const state of readUIMessageStream({ stream, ...(message && { message }) })) last = state;
      if (last === undefined) throw new Error("no message");
      return last;
    };
    const partIn = ({ parts }: UIMessage) => {
      const part = parts.find(({ type }) => type === "data-question");
      if (part === undefined || !("data" in part)) throw new Error("no question");
      return part as { data: Shown & { answered?: boolean; answer?: unknown } };
    };
    const page = await send([user]);
    const { data } = partIn(page);
    return {
      ...data,
      async answer(answer) {
        const part = { type: "data-question", id: data.call, data: { ...data, answered: true, answer } } as const;
        const parts = page.parts.map((each) => (each.type === part.type ? part : each));
        try {
          const told = partIn(await send([user, { ...page, parts }], structuredClone({ ...page, parts })));
          return isDeepStrictEqual(told.data.answer, answer) ? "taken" : "late";
        } catch (thrown) {
          return toldIn(String(thrown));
        }
      },
    };
  };

export const overAgUi =
  (url: string): Door =>
  async (agent) => {
    const client = new HttpAgent({ url: `${url}/ag-ui/${agent}`, threadId: "t1" });
    client.addMessage({ id: "u1", role: "user", content: "plan" });
    await client.runAgent({});
    const [interrupt] = client.pendingInterrupts;
    if (interrupt === undefined) throw new Error("nothing was asked");
    const [run = "", , call = ""] = interrupt.id.split("/");
    const { enum: choices, ...schema } = interrupt.responseSchema as { enum?: unknown; properties?: unknown };
    return {
      ...{ run, call, message: interrupt.message ?? "", choices },
      ...(schema.properties === undefined ? {} : { schema }),
      async answer(payload) {
        let told: unknown;
        const resume = [{ interruptId: interrupt.id, status: "resolved" as const, payload }];
        const onCustomEvent = ({ event }: { event: { name: string; value?: { answer?: unknown } } }) => {
          if (event.name === "question.answered") told = event.value?.answer;
        };
        const { error } = console;
        console.error = () => {}; // the client writes what it throws there, too
        try {
          await client.runAgent({ resume }, { onCustomEvent });
          return isDeepStrictEqual(told, payload) ? "taken" : "late";
        } catch (thrown) {
          return toldIn(String(thrown));
        } finally {
          console.error = error;
        }
      },
    };
  };

/** A program's own loop over the events. */
export const inProgram =
  (venturi: Venturi): Door =>
  async (name) => {
    const handle = await venturi.start(venturi.agent(name), "plan");
    for await (const event of handle.events()) {
      if (event.type !== "question.asked") continue;
      const answer = (given: unknown) =>
        handle.answer(event.call, given).then((taken) => (taken ? ("taken" as const) : ("late" as const)), byError);
      return { ...event, answer };
    }
    throw new Error("nothing was asked");
  };

/** `venturi approvals RUN CALL --answer …`, in its own process. */
export const byCommand =
  (runs: Runs, url: string): Door =>
  async (agent) => {
    const { run } = await runs.start({ agent, input: { text: "plan" } });
    const shown = await asked(runs, run);
    return {
      ...shown,
      async answer(answer) {
        const text = typeof answer === "string" ? answer : JSON.stringify(answer);
        const words = ["approvals", run, shown.call, "--answer", text, "--url", url];
        const { exit, out, err } = await command(words);
        return exit === 0 && out.includes("answered") ? "taken" : toldIn(err);
      },
    };
  };

/** What `venturi run` and `venturi chat` do with a line that is typed. */
export const atTerminal =
  (runs: Runs): Door =>
  async (agent) => {
    const questions = new Set<(shown: Shown) => void>();
    let type: ((line: string) => void) | undefined;
    let settle: ((told: Told) => void) | undefined;
    const first = new Promise<Shown>((resolve) => questions.add(resolve));
    const approve = (event: EventOf<"question.asked" | "approval.requested">, settled: AbortSignal) =>
      new Promise<Answer>((resolve) => {
        if (event.type !== "question.asked") throw new Error("an approval");
        settle?.("refused"); // asked once more
        for (const seen of questions) seen(event);
        settled.addEventListener("abort", () => resolve({ approved: false }));
        type = (line) => resolve(answerOf(event, line));
      });
    const words = { write: process.stderr.write };
    let late = false;
    process.stderr.write = ((text: string) => {
      late ||= text.includes("no answer any more");
      return true;
    }) as typeof process.stderr.write; // as far as it is used here
    const done = watchRun({ runs, printer: { print: () => {} }, approve }, { agent, input: { text: "plan" } }).finally(
      () => {
        process.stderr.write = words.write;
      },
    );
    // One that was settled before the terminal got to it is not asked there.
    let isAsked = false;
    const shown = await Promise.race([
      first.then((question) => {
        isAsked = true;
        return question;
      }),
      done.then(({ run }) => asked(runs, run)),
    ]);
    return {
      ...shown,
      async answer(answer) {
        if (!isAsked) return "late";
        const refused = new Promise<Told>((resolve) => {
          settle = resolve;
        });
        const choice = (shown.choices ?? []).indexOf(String(answer)) + 1;
        type?.(choice > 0 ? String(choice) : typeof answer === "string" ? answer : JSON.stringify(answer));
        return await Promise.race([refused, done.then(() => (late ? ("late" as const) : ("taken" as const)))]);
      },
    };
  };
