import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { printable } from "../text/printable.ts";
import { Icon } from "./icon.tsx";

interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
  /** Buttons after the close button. */
  readonly foot?: ComponentChildren;
  /** Label of the close button. */
  readonly closeWord?: string;
  readonly className?: string;
  /** Makes the dialog a form, submitted with Enter. */
  readonly submit?: (event: Event) => void;
}

/** A modal dialog. Escape and the cross close it, and so does a click outside if nothing typed is lost. */
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

/** An error message, shown where the action was taken. */
export const Problem = ({ text }: { text: string }): JSX.Element | null =>
  text === "" ? null : (
    <p class="problem" role="alert">
      <Icon name="warning" size={14} /> {printable(text)}
    </p>
  );
