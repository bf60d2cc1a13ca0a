// Talks to an agent over the WebSocket channel, in a terminal:
//   node talk.mjs [ws://127.0.0.1:7070/ws] [--agent host] [--voice espeak-ng]
// Each line is a turn. A line or Ctrl-C while the agent speaks interrupts it; Ctrl-D, or Ctrl-C when it is silent, leaves.
// VENTURI_KEY is the key, if the service wants one. The voice is any program that speaks what it reads: espeak-ng, say.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { Conversation } from "./conversation.js";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { agent: { type: "string", default: "host" }, voice: { type: "string" } },
});

/** Speaks one sentence after the other, beside the stream. */
class Voice {
  #program;
  #waiting = [];
  #speaking;

  constructor(program) {
    this.#program = program;
  }

  say(sentence) {
    if (this.#program === undefined) return;
    this.#waiting.push(sentence);
    this.#next();
  }

  stop() {
    this.#waiting = [];
    this.#speaking?.kill();
  }

  #next() {
    if (this.#speaking !== undefined || this.#waiting.length === 0) return;
    const speaking = spawn(this.#program, { stdio: ["pipe", "ignore", "inherit"] });
    this.#speaking = speaking;
    speaking.stdin.on("error", () => {}); // it was stopped
    speaking.stdin.end(`${this.#waiting.shift()}\n`);
    speaking.on("error", (error) => {
      print(`! ${this.#program}: ${error.message}`);
      this.#program = undefined;
    });
    speaking.on("close", () => {
      this.#speaking = undefined;
      this.#next();
    });
  }
}

/** What comes from a model or a tool may hold escape sequences; a terminal is not to see them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const plain = (text) => String(text).replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, " ");
const print = (text) => process.stdout.write(`${plain(text)}\n`);
const voice = new Voice(values.voice);
const questions = [];

const conversation = new Conversation({
  url: positionals[0] ?? "ws://127.0.0.1:7070/ws",
  agent: values.agent,
  key: process.env.VENTURI_KEY,
  listener: {
    sentence(text) {
      print(text);
      voice.say(text);
    },
    called: (name, input) => print(`  ⋯ ${name} ${JSON.stringify(input)}`),
    told: (_call, text) => print(`    ${text}`),
    answered: (name, result, ms) => print(`  ✔ ${name}: ${result} (${Math.round(ms)} ms)`),
    refused: (name, error) => print(`  ✗ ${name}: ${error}`),
    asked(name, input, answer) {
      print(`  ? ${name} ${JSON.stringify(input)}: may it? y or n`);
      questions.push(answer);
    },
    retracted() {
      voice.stop();
      print("  ↩ again, with another model");
    },
    over(reason) {
      questions.length = 0;
      if (reason !== "done") voice.stop();
      print(reason === "done" ? "" : `  ■ ${reason}`);
    },
    gone(reason) {
      print(`  ${reason}`);
      process.exit(isLeaving ? 0 : 1);
    },
  },
});

let isLeaving = false;
const leave = () => {
  isLeaving = true;
  voice.stop();
  conversation.close();
};

try {
  await conversation.opened;
} catch (error) {
  print(error.message);
  process.exit(1);
}
const lines = createInterface({ input: process.stdin, terminal: process.stdin.isTTY === true, output: process.stdout });
lines.on("line", (line) => {
  const answer = questions.shift();
  if (answer !== undefined) return answer(line.trim().startsWith("y"));
  if (line.trim() !== "") conversation.say(line.trim());
});
lines.on("SIGINT", () => (conversation.isBusy ? conversation.interrupt() : leave()));
process.on("SIGINT", () => (conversation.isBusy ? conversation.interrupt() : leave()));
lines.on("close", leave);
print(`talking to ${values.agent}`);
