import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Confirmation {
  readonly title: string;
  readonly text: string;
  /** On the button that does it. */
  readonly word: string;
  readonly run: () => void;
}

const open = signal<Confirmation | undefined>(undefined);

/** Asks before something that cannot be undone. */
export function confirm(question: Confirmation): void {
  open.value = question;
}

export function Confirm(): JSX.Element | null {
  return open.value === undefined ? null : <Open {...open.value} />;
}

function Open({ title, text, word, run }: Confirmation): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const close = () => {
    open.value = undefined;
  };
  return (
    <dialog ref={dialog} class="fork" aria-labelledby="confirm-title" onClose={close}>
      <div class="dialog-head">
        <h2 id="confirm-title">{title}</h2>
      </div>
      <div class="dialog-body">
        <p>{text}</p>
      </div>
      <div class="dialog-foot">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button
          type="button"
          class="danger"
          data-act="confirm"
          onClick={() => {
            close();
            run();
          }}
        >
          {word}
        </button>
      </div>
    </dialog>
  );
}
