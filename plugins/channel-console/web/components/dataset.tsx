import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useId } from "preact/hooks";
import { client } from "../state/session.ts";
import { toast } from "./announce.tsx";
import { Dialog, Problem } from "./dialog.tsx";

/** Asks which dataset to add the run to, and why. */
export function DatasetDialog({ run, close }: { run: string; close: () => void }): JSX.Element {
  const known = useSignal<readonly string[]>([]);
  const problem = useSignal("");
  const busy = useSignal(false);
  const list = useId();
  const failed = (thrown: unknown) => {
    problem.value = thrown instanceof Error ? thrown.message : String(thrown);
  };
  useEffect(() => {
    client.value.request<{ datasets: string[] }>({ op: "dataset.list", path: "/v1/datasets" }).then(({ datasets }) => {
      known.value = datasets;
    }, failed);
  }, []);
  const add = async (event: Event) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement); // The form it is bound to.
    const [dataset, note] = [String(form.get("dataset")).trim(), String(form.get("note")).trim()];
    const body = { dataset, ...(note === "" ? {} : { note }) };
    busy.value = true;
    try {
      const path = `/v1/runs/${encodeURIComponent(run)}/dataset`;
      await client.value.request({ op: "dataset.add", method: "POST", path, body });
      toast(`Added to ${dataset}`);
      close();
    } catch (thrown) {
      failed(thrown);
    } finally {
      busy.value = false;
    }
  };
  return (
    <Dialog
      title="Add to dataset"
      close={close}
      submit={(event) => void add(event)}
      foot={
        <button type="submit" class="primary" data-act="add-to-dataset" disabled={busy.value}>
          Add
        </button>
      }
    >
      <p class="muted">
        A copy of the run and its conversation, without keys and personal data, becomes a case for{" "}
        <code>venturi eval</code>.
      </p>
      <label>
        Dataset
        <input
          name="dataset"
          list={list}
          required
          maxLength={64}
          pattern="[A-Za-z0-9][A-Za-z0-9_\-]*"
          title="letters, digits, - and _"
          autocomplete="off"
        />
      </label>
      <datalist id={list}>
        {known.value.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <label>
        Note
        <input name="note" maxLength={4000} placeholder="Why it is in the set" autocomplete="off" />
      </label>
      <Problem text={problem.value} />
    </Dialog>
  );
}
