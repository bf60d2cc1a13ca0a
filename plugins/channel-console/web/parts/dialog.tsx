import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { printable } from "../text/printable.ts";
import { Icon } from "./icon.tsx";

interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
  /** Buttons, after the one that closes it. */
  readonly foot?: ComponentChildren;
  /** On the button that closes it. */
  readonly closeWord?: string;
  readonly className?: string;
  /** Makes it a form, which Enter sends. */
  readonly submit?: (event: Event) => void;
}

/** A window in front of the page. Escape and its cross close it; so does a click beside it, where nothing typed is lost. */
export function Dialog({
  title,
  close,
  children,
  foot,
  closeWord = "Cancel",
  className = "",
  submit,
}: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => dialog.current?.showModal(), []);
  const inner = (
    <>
      <div class="dialog-head">
        <h2 id={id}>{printable(title)}</h2>
        <button type="button" class="quiet small" aria-label="Close" onClick={close}>
          <Icon name="cross" size={14} />
        </button>
      </div>
      <div class="dialog-body">{children}</div>
      <div class="dialog-foot">
        <button type="button" onClick={close}>
          {closeWord}
        </button>
        {foot}
      </div>
    </>
  );
  return (
    <dialog
      ref={dialog}
      class={`fork ${className}`}
      aria-labelledby={id}
      onClose={close}
      onMouseDown={(event) => submit === undefined && event.target === dialog.current && close()}
    >
      {submit === undefined ? <div class="dialog-frame">{inner}</div> : <form onSubmit={submit}>{inner}</form>}
    </dialog>
  );
}

/** What went wrong, where it was asked for. */
export const Problem = ({ text }: { text: string }): JSX.Element | null =>
  text === "" ? null : (
    <p class="problem" role="alert">
      <Icon name="warning" size={14} /> {printable(text)}
    </p>
  );
