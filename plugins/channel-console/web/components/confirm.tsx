import { signal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { Dialog, Problem } from "./dialog.tsx";

interface Confirmation {
  readonly title: string;
  readonly text: string;
  /** Label of the confirming button. */
  readonly word: string;
  /** Errors it throws are shown, and the dialog stays open. */
  readonly run: () => void | Promise<void>;
}

const open = signal<Confirmation | undefined>(undefined);

/** Asks for confirmation before something that cannot be undone. */
export function confirm(question: Confirmation): void {
  open.value = question;
}

export function Confirm(): JSX.Element | null {
  return open.value === undefined ? null : <Open {...open.value} />;
}

function Open({ title, text, word, run }: Confirmation): JSX.Element {
  const problem = useSignal("");
  const busy = useSignal(false);
  const close = () => {
    open.value = undefined;
  };
  const go = async () => {
    busy.value = true;
    try {
      await run();
      close();
    } catch (thrown) {
      problem.value = thrown instanceof Error ? thrown.message : String(thrown);
    } finally {
      busy.value = false;
    }
  };
  return (
    <Dialog
      title={title}
      close={close}
      foot={
        <button type="button" class="danger" data-act="confirm" disabled={busy.value} onClick={go}>
          {word}
        </button>
      }
    >
      <p>{text}</p>
      <Problem text={problem.value} />
    </Dialog>
  );
}
