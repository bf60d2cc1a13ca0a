import type { Command } from "commander";
import { VenturiError } from "../core/errors/errors.ts";
import type { PendingApproval } from "../core/ports/runs.ts";
import { example } from "./globals.ts";
import { forOneLine, show, showJson } from "./screen.ts";
import { addServiceOptions, askService, type ServiceOptions } from "./service-client.ts";

interface Options extends ServiceOptions {
  readonly json?: true;
  readonly approve?: true;
  readonly deny?: true;
  readonly reason?: string;
}

type Open = PendingApproval & { readonly run: string; readonly agent: string };

/** `venturi approvals`: lists open questions; with a run and a call, answers one. */
export function configure(command: Command): void {
  addServiceOptions(
    command
      .argument("[run]", "the run that asks")
      .argument("[call]", "the call it asks about; may be left out when there is one"),
  )
    .option("--approve", "let the tool run")
    .option("--deny", "do not")
    .option("--reason <text>", "passed to the model when the call is denied")
    .option("--json", "one JSON line a question")
    .addHelpText("after", example("venturi approvals", 'venturi approvals run_0m5x… --deny --reason "too expensive"'))
    .action(async (run: string | undefined, call: string | undefined, options: Options) => {
      const { approvals } = await askService<{ approvals: Open[] }>(command, {
        ...options,
        path: "/v1/approvals?limit=200",
      });
      if (!options.approve && !options.deny)
        return list(
          approvals.filter((open) => run === undefined || open.run === run),
          options,
        );
      if (run === undefined || (options.approve && options.deny)) {
        throw new VenturiError("cli.approvals", "invalid_input", "name the run, and one of --approve and --deny");
      }
      const asked = call ?? onlyCall(approvals, run);
      const body = {
        approved: options.approve === true,
        ...(options.reason === undefined ? {} : { reason: options.reason }),
      };
      const path = `/v1/runs/${encodeURIComponent(run)}/approvals/${encodeURIComponent(asked)}`;
      await askService(command, { ...options, path, body });
      show(process.stdout, `${run} ${asked} ${body.approved ? "approved" : "denied"}\n`);
    });
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
  if (approvals.length === 0 && !json) show(process.stderr, "no pending approvals\n");
  for (const open of approvals) {
    if (json) showJson(process.stdout, JSON.stringify(open));
    else show(process.stdout, `${forOneLine(lineOf(open))}\n`);
  }
}

function lineOf({ run, agent, call, name, arguments: input, since, until }: Open): string {
  const asked = new Date(since).toISOString().slice(0, 19).replace("T", " ");
  const left = until === undefined ? "" : `, until ${new Date(until).toISOString().slice(0, 19).replace("T", " ")}`;
  return `${run} ${call}  ${agent}: ${name} ${JSON.stringify(input)}  (asked ${asked}${left})`;
}
