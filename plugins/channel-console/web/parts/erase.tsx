import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { go, to } from "../state/router.ts";
import { client } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { shortRun } from "../text/words.ts";
import { toast } from "./announce.tsx";

/** Asks before an ended run is erased: events, bytes and digest. */
export function EraseDialog({ run, close }: { run: string; close: () => void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const problem = useSignal("");
  useEffect(() => dialog.current?.showModal(), []);
  const erase = async () => {
    try {
      await client.value.request({ op: "run.remove", method: "DELETE", path: `/v1/runs/${encodeURIComponent(run)}` });
      toast(`${shortRun(run)} was erased`);
      go(to("runs"));
    } catch (thrown) {
      problem.value = thrown instanceof Error ? thrown.message : String(thrown);
    }
  };
  return (
    <dialog ref={dialog} class="fork" aria-labelledby="erase-title" onClose={close}>
      <div class="dialog-head">
        <h2 id="erase-title">Erase this run?</h2>
      </div>
      <div class="dialog-body">
        <p>Its events, the bytes that were kept and its place in search go for good. Forks of it stay.</p>
        {problem.value === "" ? null : (
          <p class="problem" role="alert">
            {printable(problem.value)}
          </p>
        )}
      </div>
      <div class="dialog-foot">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button type="button" class="danger" onClick={erase}>
          Erase
        </button>
      </div>
    </dialog>
  );
}
