import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { speakable } from "../../../plugins/speech/speakable.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import { isTerminal, type TerminalEvent } from "../../../src/core/run/events.ts";
import { openService, type Service } from "../../../src/host/service.ts";
import { testFolder } from "../../host/folder.ts";
import { Listener, type Received } from "./client.ts";

/** A second of silence, but for its first sample, which counts the sentences. */
const second = (n: number): Buffer => {
  const bytes = Buffer.alloc(48_000);
  bytes.writeInt16LE(n, 0);
  return bytes;
};

/** An OpenAI-compatible `/audio/speech` that cuts its answers in the middle of samples. */
class SpeechServer {
  readonly asked: Record<string, unknown>[] = [];
  readonly headers: IncomingMessage["headers"][] = [];
  fails = false;
  /** Leaves the second half of each answer out, until the socket goes. */
  hangs = false;
  aborted = 0;
  readonly #server: Server;

  constructor() {
    this.#server = createServer(async (request, response) => {
      let text = "";
      for await (const data of request) text += data;
      this.asked.push(JSON.parse(text));
      this.headers.push(request.headers);
      response.on("close", () => {
        if (!response.writableFinished) this.aborted++;
      });
      if (this.fails) return void response.writeHead(500).end();
      response.writeHead(200, { "content-type": "audio/pcm" });
      const audio = second(this.asked.length);
      response.write(audio.subarray(0, 1));
      response.write(audio.subarray(1, 24_001));
      if (!this.hangs) response.end(audio.subarray(24_001));
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

const scenarios = `
providers:
  demo:
    type: simulator
    pace: 0
    scenarios:
      - name: three
        turns: [{ text: "Hello there. See https://x.test/a?b=c.\\n\`\`\`js\\nx.y();\\n\`\`\`\\nBye now." }]
      - name: long
        turns: [{ text: "One is here. Two is here. Three is here. And the rest", pace: 60 }]
`;

describe("speech", function () {
  this.timeout(180_000);
  const folder = testFolder();
  let speech: SpeechServer;
  let service: Service;
  let listener: Listener;

  beforeEach(async () => {
    speech = new SpeechServer();
    const baseUrl = await speech.listen();
    const configFile = folder.write({
      "venturi.yaml": `
version: 1
${scenarios}
agents:
  three: { model: demo/three, instructions: Talk. }
  long: { model: demo/long, instructions: Talk. }
journal: { type: memory }
channels: { http: {}, websocket: {}, speech: { engine: { type: openai, baseUrl: "${baseUrl}", apiKey: secret-key, voice: ash } } }
server: { listen: 127.0.0.1:0 }
telemetry: "off"
`,
    });
    service = await openService({ configFile, log: silentLog });
    listener = await Listener.connect(`${service.url.replace("http", "ws")}/speech`);
  });
  afterEach(async () => {
    listener.close();
    await service.drain();
    speech.close();
  });

  const ending = async (run: string): Promise<TerminalEvent> => {
    for await (const batch of service.host.runs.follow(run))
      for (const event of batch) if (isTerminal(event)) return event;
    throw new Error("the run has no end");
  };
  const frames = (from: Received, to: Received): Buffer => {
    const at = (wanted: Received) => listener.heard.findIndex(({ message }) => message === wanted);
    return Buffer.concat(listener.heard.slice(at(from), at(to)).flatMap(({ frame }) => frame ?? []));
  };

  it("sends each sentence as PCM between its start and its end, and leaves code unsaid", async () => {
    listener.send({ type: "run", agent: "three", input: "hi", speech: true });
    const { message: done } = await listener.message("speech_done");
    const starts = listener.ofType("speech_start");
    const ends = listener.ofType("speech_end");
    expect(starts.map((start) => start.text)).to.deep.equal([
      "Hello there. ",
      "See https://x.test/a?b=c.\n",
      "Bye now.",
    ]);
    expect(speech.asked.map((body) => body.input)).to.deep.equal(["Hello there.", "See x.test.", "Bye now."]);
    expect(speech.asked[0]).to.include({ voice: "ash", response_format: "pcm" });
    expect(speech.headers[0]?.authorization).to.equal("Bearer secret-key");
    expect(starts[0]?.format).to.deep.equal({ encoding: "pcm_s16le", sampleRate: 24_000, channels: 1 });
    for (const [index, start] of starts.entries()) {
      expect(ends[index]).to.deep.include({ bytes: 48_000, ms: 1_000 });
      expect(frames(start, ends[index] as Received)).to.deep.equal(second(index + 1));
    }
    for (const frame of listener.frames) expect(frame.length % 2).to.equal(0);
    expect(done).to.include({ ms: 3_000 });
  });

  it("a barge-in stops voice and run at once, and the run's last event says how much was heard", async () => {
    speech.hangs = true;
    listener.send({ type: "run", agent: "long", input: "hi", speech: true });
    const { message: start } = await listener.message("speech_start");
    await listener.until(({ frame }) => frame !== undefined);
    listener.send({ type: "interrupt", run: start?.run, id: "stop", playedMs: 250 });
    const { message } = await listener.message("interrupted");
    expect(message).to.include({ id: "stop", cancelled: true });
    const end = await ending(start?.run ?? "");
    expect(end.type === "run.failed" && end.error).to.deep.include({ code: "stream_interrupted" });
    const heard = (end.type === "run.failed" && end.error.details?.heard) as Record<string, number>;
    expect(heard).to.deep.equal(message?.heard);
    // Half a second of the first sentence was sent, and half of that was heard.
    expect(heard).to.include({ sentences: 0, ms: 250 });
    expect(heard.characters).to.be.within(5, 8);
    const { message: cut } = await listener.message("speech_end");
    expect(cut).to.include({ interrupted: true });
    while (speech.aborted === 0) await new Promise((resolve) => setImmediate(resolve));
    const after = listener.heard.findIndex(({ message }) => message === cut);
    expect(listener.heard.slice(after).some(({ frame }) => frame !== undefined)).to.equal(false);
  });

  it("without the client's count, what was heard is what could have been played by then, also when all was sent", async () => {
    const began = performance.timeOrigin + performance.now();
    listener.send({ type: "run", agent: "three", input: "hi", speech: true });
    const { message: done } = await listener.message("speech_done");
    listener.send({ type: "interrupt", run: done?.run });
    const { message, at } = await listener.message("interrupted");
    const { ms = -1, sentences } = (message?.heard ?? {}) as Record<string, number>;
    expect(ms).to.be.within(0, at - began + 1);
    expect(sentences).to.equal(Math.floor(ms / 1_000));
  });

  it("what was heard of a run that had ended stands in the session's next run", async () => {
    speech.hangs = true; // speech lags behind the run
    listener.send({ type: "run", agent: "three", input: "hi", session: "talk", speech: true });
    const { message: end } = await listener.message("stream_end");
    await listener.until(({ frame }) => frame !== undefined);
    listener.send({ type: "interrupt", run: end?.run, playedMs: 100 });
    const { message } = await listener.message("interrupted");
    expect(message).to.include({ cancelled: false });
    listener.send({ type: "run", agent: "three", input: "again", session: "talk" });
    await listener.until(({ message }) => message?.type === "stream_end" && message.run !== end?.run);
    const next = listener.ofType("stream_start").at(-1)?.run ?? "";
    for await (const batch of service.host.runs.follow(next)) {
      const [started] = batch;
      if (started?.type !== "run.started") break;
      expect(started.metadata?.interrupted).to.deep.equal({ run: end?.run, heard: message?.heard });
      return;
    }
    expect.fail("the run has no beginning");
  });

  it("a voice that fails costs a sentence, not the run", async () => {
    speech.fails = true;
    listener.send({ type: "run", agent: "three", input: "hi", speech: true });
    await listener.message("speech_done");
    expect(listener.ofType("speech_error")).to.have.length(3);
    expect(listener.ofType("stream_end")).to.have.length(1);
  });

  it("a socket that goes away takes its voice with it", async () => {
    speech.hangs = true;
    listener.send({ type: "run", agent: "three", input: "hi", speech: true });
    await listener.until(({ frame }) => frame !== undefined);
    listener.close();
    while (speech.aborted === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(speech.asked).to.have.length(1);
  });

  it("a socket without a voice says so, and a run that is not to be spoken costs no audio", async () => {
    const plain = await Listener.connect(`${service.url.replace("http", "ws")}/ws`);
    plain.send({ type: "run", agent: "three", input: "hi", speech: true, id: "a" });
    const { message } = await plain.message("stream_error");
    expect(JSON.stringify(message)).to.contain("no voice");
    plain.close();
    listener.send({ type: "run", agent: "three", input: "hi" });
    await listener.message("stream_end");
    expect(speech.asked).to.have.length(0);
  });

  it("speaks words, not markup", () => {
    expect(speakable("## **Bold** and [a link](https://x.test/y).")).to.equal("Bold and a link.");
    expect(speakable("- one `thing`\n")).to.equal("one thing");
    expect(speakable("Go to https://www.x.test/a/b?c=d.")).to.equal("Go to x.test.");
    expect(speakable("---\n")).to.equal("");
    expect(speakable("```js\nx\n```\n")).to.equal("");
  });
});
