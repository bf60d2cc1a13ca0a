import type { RunEvent } from "../state/api-types.ts";
import { emptyView, fold } from "./fold.ts";
import { type Call, type Item, RunView } from "./view.ts";

/** Maximum snapshots per run. When exceeded, every other one is dropped and they are taken half as often. */
const most = 16;
const firstDistance = 2_500;

/** Copies of the view at some events, so that going back replays a few thousand events instead of all. */
export class Snapshots {
  readonly #views: RunView[] = [];
  #distance: number;

  /** `distance`: initial number of events between snapshots. */
  constructor(distance = firstDistance) {
    this.#distance = distance;
  }

  /** Call after each event with the current view. */
  note(view: RunView): void {
    if (view.head % this.#distance !== 0) return;
    this.#views.push(copyView(view));
    if (this.#views.length <= most) return;
    this.#distance *= 2;
    const kept = this.#views.filter(({ head }) => head % this.#distance === 0);
    this.#views.splice(0, this.#views.length, ...kept);
  }

  /** The view at event `at`. `from`: an earlier view to continue from; it is modified. */
  at(run: string, at: number, { events, from }: { events: readonly RunEvent[]; from: RunView | undefined }): RunView {
    const near = this.#views.findLast(({ head }) => head <= at);
    const isAhead = from !== undefined && from.head <= at && from.head >= (near?.head ?? 0);
    const view = isAhead ? from : near === undefined ? emptyView(run) : copyView(near);
    for (let index = view.head; index < at && index < events.length; index += 1) {
      const event = events[index];
      if (event !== undefined) fold(view, event);
    }
    return view;
  }
}

/** What the fold changes is copied, and calls stay the same object in all places. Texts and events are shared. */
function copyView(view: RunView): RunView {
  const questions = new Map(view.questions.map((question) => [question, { ...question }]));
  const calls = new Map<Call, Call>();
  const copyCall = (call: Call): Call => {
    const copy = calls.get(call) ?? call.copy(call.question && questions.get(call.question));
    calls.set(call, copy);
    return copy;
  };
  const copyItem = (item: Item): Item =>
    item.kind === "call" ? { ...item, call: copyCall(item.call) } : item.kind === "notice" ? item : { ...item };
  return Object.assign(new RunView(view.run), view, {
    items: view.items.map(copyItem),
    rounds: view.rounds.map((round) => ({
      ...round,
      attempts: round.attempts.map((attempt) => attempt.copy()),
      calls: round.calls.map(copyCall),
    })),
    calls: new Map([...view.calls].map(([id, call]) => [id, copyCall(call)])),
    questions: [...questions.values()],
    asking: new Map([...view.asking].map(([id, question]) => [id, questions.get(question) ?? question])),
    times: view.times.copy(),
    mishaps: [...view.mishaps],
  });
}
