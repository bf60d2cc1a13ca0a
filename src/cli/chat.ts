import { randomUUID } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { createInterface, type Interface } from "node:readline/promises";
import type { Command } from "commander";
import { VenturiError } from "../core/errors/errors.ts";
import { type Host, openHost } from "../host/open.ts";
import { askPerson } from "./approve.ts";
import { example, globalsOrBox } from "./globals.ts";
import { quietly } from "./quiet.ts";
import { ansiOf, forOneLine, reset, show, styled, wantsColor } from "./screen.ts";
import { openPrinter } from "./terminal.ts";
import { watchRun } from "./watch-run.ts";

const help = `/help            this
/new             start a new conversation
/session         its id, to go on with later: venturi chat AGENT --session ID
/agents          the agents there are
/agent NAME      talk to another one, in the same conversation
/exit, Ctrl-D    leave; Ctrl-C stops an answer
`;

interface Chat {
  readonly host: Host;
  readonly historyFile: string;
  agent: string;
  session: string;
}

/** `venturi chat AGENT`: a conversation at the terminal. */
export function configure(command: Command): void {
  command
    .argument("<agent>", "an agent of the configuration")
    .option("--session <id>", "continue this conversation")
    .option("--json", "print the runs' events, one JSON line each")
    .addHelpText("after", example("venturi chat assistant"))
    .action(async (agent: string, options: { session?: string; json?: true }) => {
      const { config, set } = globalsOrBox(command);
      const host = await openHost({ configFile: config, set: quietly(set), shadows: false });
      try {
        mustExist(host, agent);
        const historyFile = resolve(host.config.folder, host.config.dataFolder, "chat-history");
        const session = options.session ?? randomUUID();
        await converse({ host, historyFile, agent, session }, { json: options.json === true });
      } finally {
        await host.close();
      }
    });
}

async function converse(chat: Chat, { json }: { json: boolean }): Promise<void> {
  const interactive = process.stdin.isTTY === true;
  if (interactive) show(process.stderr, `Talking to ${chat.agent}. /help lists the commands.\n`);
  for (;;) {
    const line = await (interactive ? askOnTerminal(chat) : nextPipedLine());
    if (line === undefined || /^\/(exit|quit)$/.test(line)) return;
    if (line === "") continue;
    if (line.startsWith("/")) {
      obey(chat, line);
      continue;
    }
    remember(chat.historyFile, line);
    const { agent, session } = chat;
    await watchRun(
      { runs: chat.host.runs, printer: openPrinter({ json }), approve: askPerson },
      { agent, session, input: { text: line } },
    );
  }
}

let piped: AsyncIterator<string> | undefined;

/** The next line; undefined at the end. */
async function nextPipedLine(): Promise<string | undefined> {
  piped ??= createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const { value, done } = await piped.next();
  return done ? undefined : value.trim();
}

/** The same on a terminal. Readline is open for one line only, so that Ctrl-C goes to the run in between. */
async function askOnTerminal({ agent, historyFile }: Chat): Promise<string | undefined> {
  const history = historyOf(historyFile);
  const line = createInterface({ input: process.stdin, output: process.stderr, history, historySize: 500 });
  const name = `${forOneLine(agent)}>`;
  const prompt = `${ansiOf(reset)}${wantsColor(process.stderr) ? ansiOf(styled("bold", name)) : name} `;
  try {
    return (await Promise.race([line.question(prompt), closed(line)]))?.trim();
  } finally {
    line.close();
  }
}

const closed = (line: Interface): Promise<string | undefined> =>
  new Promise((resolve) => {
    // Ctrl-C clears a half-typed line, as in a shell; on an empty one it exits.
    line.on("SIGINT", () => {
      if (line.line === "") return resolve(undefined);
      show(process.stderr, "^C\n");
      resolve("");
    });
    line.once("close", () => resolve(undefined));
  });

function obey(chat: Chat, line: string): void {
  const [name, argument] = line.slice(1).split(/\s+/, 2);
  const say = (text: string) => show(process.stderr, `${text}\n`);
  if (name === "help") say(help.trimEnd());
  else if (name === "new") {
    chat.session = randomUUID();
    say("a new conversation");
  } else if (name === "session") say(chat.session);
  else if (name === "agents")
    for (const agent of chat.host.runs.agents()) say(`${agent.name}  ${agent.description ?? ""}`);
  else if (
    name === "agent" &&
    argument !== undefined &&
    chat.host.runs.agents().some((agent) => agent.name === argument)
  ) {
    chat.agent = argument;
  } else say(`${line} is not known; /help lists what is`);
}

function mustExist(host: Host, name: string): void {
  const names = host.runs.agents().map((agent) => agent.name);
  if (names.includes(name)) return;
  throw new VenturiError("cli.chat", "not_found", `there is no agent "${name}"; the agents are: ${names.join(", ")}`);
}

/** Newest first, as readline expects. */
const historyOf = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean).slice(-500).map(forOneLine).reverse() : [];

function remember(file: string, line: string): void {
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, `${line}\n`, { mode: 0o600 });
}
