import type { Command } from "commander";
import { VenturiError } from "../core/errors/errors.ts";
import type { PendingQuestion } from "../core/run/questions.ts";
import { example } from "./globals.ts";
import { forOneLine, show, showJson } from "./screen.ts";
import { addServiceOptions, askService, type ServiceOptions } from "./service-client.ts";

interface Options extends ServiceOptions {
  readonly json?: true;
  readonly approve?: true;
  readonly deny?: true;
  readonly answer?: string;
  readonly reason?: string;
}

type Open = PendingQuestion & { readonly run: string; readonly agent: string };

/** `venturi approvals`: lists open questions; with a run and a call, answers one. */
export function configure(command: Command): void {
  addServiceOptions(
    command
      .argument("[run]", "the run that asks")
      .argument("[call]", "the call it asks about; optional if there is only one"),
  )
    .option("--approve", "let the tool run")
    .option("--deny", "deny the call, or decline a tool's question")
    .option("--answer <text>", "answer a tool's question: text, or JSON if the question has a schema")
    .option("--reason <text>", "passed to the model when the call is denied")
    .option("--json", "print one JSON line per question")
    .addHelpText(
      "after",
      example(
        "venturi approvals",
        'venturi approvals run_0m5x… --deny --reason "too expensive"',
        "venturi approvals run_0m5x… --answer Tuesday",
      ),
    )
    .action(async (run: string | undefined, call: string | undefined, options: Options) => {
      const questions = await allOpen(command, options);
      const { approve, deny, answer, reason } = options;
      const given = [approve, deny, answer].filter((option) => option !== undefined).length;
      if (given === 0) {
        return list(
          questions.filter((open) => run === undefined || open.run === run),
          options,
        );
      }
      if (run === undefined || given > 1) {
        const message = "name the run, and one of --approve, --deny and --answer";
        throw new VenturiError("cli.approvals", "invalid_input", message);
      }
      const asked = call ?? onlyCall(questions, run);
      const open = questions.find((question) => question.run === run && question.call === asked);
      const isInput = answer !== undefined || (open !== undefined && open.kind !== "approve");
      const said = isInput
        ? { ...(deny ? { decline: true } : {}), ...(answer === undefined ? {} : { answer: readTyped(answer, open) }) }
        : { approved: approve === true };
      const path = `/v1/runs/${encodeURIComponent(run)}/${isInput ? "questions" : "approvals"}/${encodeURIComponent(asked)}`;
      await askService(command, { ...options, path, body: { ...said, ...(reason === undefined ? {} : { reason }) } });
      const done = deny ? (isInput ? "declined" : "denied") : isInput ? "answered" : "approved";
      show(process.stdout, `${run} ${asked} ${done}\n`);
    });
}

/** All pages: one ends after 200 runs, or earlier where arguments are large. */
async function allOpen(command: Command, options: Options): Promise<Open[]> {
  const found: Open[] = [];
  let cursor: string | undefined;
  do {
    const next = cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const path = `/v1/questions?limit=200${next}`;
    const page = await askService<{ questions: Open[]; cursor?: string }>(command, { ...options, path });
    found.push(...page.questions);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return found;
}

/** Parses JSON if the question has a schema. Other text is sent unchanged, so that the service reports what is wrong. */
function readTyped(typed: string, open: Open | undefined): unknown {
  if (open?.schema === undefined) return typed;
  try {
    return JSON.parse(typed) as unknown;
  } catch {
    return typed;
  }
}

function onlyCall(approvals: readonly Open[], run: string): string {
  const open = approvals.filter((approval) => approval.run === run);
  const [first] = open;
  if (open.length === 1 && first !== undefined) return first.call;
  const calls = open.map((approval) => approval.call).join(", ");
  const message = open.length === 0 ? `the run ${run} waits for nobody` : `name the call, one of: ${calls}`;
  throw new VenturiError("cli.approvals", open.length === 0 ? "not_found" : "invalid_input", message);
}

function list(approvals: readonly Open[], { json }: Options): void {
  if (approvals.length === 0 && !json) show(process.stderr, "no pending questions\n");
  for (const open of approvals) {
    if (json) showJson(process.stdout, JSON.stringify(open));
    else show(process.stdout, `${forOneLine(lineOf(open))}\n`);
  }
}

function lineOf({ run, agent, call, name, message, choices, arguments: input, since, until }: Open): string {
  const what = message === undefined ? JSON.stringify(input) : [message, ...(choices ?? [])].join(" | ");
  const asked = new Date(since).toISOString().slice(0, 19).replace("T", " ");
  const left = until === undefined ? "" : `, until ${new Date(until).toISOString().slice(0, 19).replace("T", " ")}`;
  return `${run} ${call}  ${agent}: ${name} ${what}  (asked ${asked}${left})`;
}
