import { type Signal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { ClientError } from "venturi/client";
import { announce, toast } from "./announce.tsx";

/** How long an answer can be undone before it is sent, ms. */
const undo = 3_000;
/** How long a question must be visible before it can be answered, ms: a second click must not hit what slid under it. */
const pause = 700;

export interface Held {
  /** False at first, and while an answer is being sent. */
  readonly ready: boolean;
  /** The chosen answer while it can be undone. */
  readonly word: string | undefined;
  /** Sends after the time to undo. */
  hold(word: string, send: () => Promise<void>): void;
  takeBack(): void;
}

/** Sends an answer after a delay in which it can be undone, or at once when the page is left. */
export function useHeldAnswer(busy: Signal<boolean>): Held {
  const word = useSignal<string | undefined>(undefined);
  const shown = useSignal(false);
  const leaving = useRef<{ timer: ReturnType<typeof setTimeout>; send: () => void } | undefined>(undefined);
  useEffect(() => {
    const timer = setTimeout(() => {
      shown.value = true;
    }, pause);
    const flush = () => leaving.current?.send();
    addEventListener("pagehide", flush);
    return () => {
      clearTimeout(timer);
      removeEventListener("pagehide", flush);
      flush();
    };
  }, []);
  const takeBack = () => {
    clearTimeout(leaving.current?.timer);
    leaving.current = undefined;
    word.value = undefined;
  };
  return {
    ready: shown.value && !busy.value && word.value === undefined,
    word: word.value,
    hold(said, tell) {
      const send = () => {
        takeBack();
        void tell();
      };
      word.value = said;
      leaving.current = { timer: setTimeout(send, undo), send };
    },
    takeBack,
  };
}

const taken = "Answered by somebody else";

/** The outcome of an answer in a word, or why it was not delivered. Somebody else may have been faster. */
export async function deliver(
  word: string,
  send: () => Promise<unknown>,
): Promise<{ readonly word: string } | { readonly problem: string }> {
  try {
    await send();
    return { word };
  } catch (thrown) {
    if (thrown instanceof ClientError && thrown.code === "conflict") return { word: taken };
    return { problem: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

interface Answering {
  readonly held: Held;
  readonly busy: Signal<boolean>;
  readonly problem: Signal<string>;
  /** Holds an answer, sends it, and reports the outcome. */
  give(word: string, send: () => Promise<unknown>): void;
}

/** Handles one question's answer, from the click to the receipt. */
export function useAnswer(answered: ((word: string) => void) | undefined): Answering {
  const busy = useSignal(false);
  const problem = useSignal("");
  const held = useHeldAnswer(busy);
  const give = (word: string, send: () => Promise<unknown>) => {
    problem.value = "";
    held.hold(word, async () => {
      busy.value = true;
      const became = await deliver(word, send);
      busy.value = false;
      if ("problem" in became) {
        problem.value = became.problem;
        return;
      }
      if (became.word === taken) toast("Somebody answered this before you, or the run has ended.");
      else announce(word);
      answered?.(became.word);
    });
  };
  return { held, busy, problem, give };
}

export const ReasonField = ({ reason, hint }: { reason: Signal<string>; hint: string }): JSX.Element => (
  <label class="field">
    <span class="hidden-text">Reason</span>
    <input
      value={reason.value}
      maxLength={1000}
      placeholder={`Reason, kept with ${hint} (optional)`}
      onInput={(event) => {
        reason.value = event.currentTarget.value;
      }}
    />
  </label>
);

export function HeldLine({ held }: { held: Held }): JSX.Element | null {
  if (held.word === undefined) return null;
  return (
    <p class="held" role="status">
      {held.word}. It is sent in {undo / 1000} s.{" "}
      <button type="button" data-act="undo" onClick={held.takeBack}>
        Undo
      </button>
    </p>
  );
}
