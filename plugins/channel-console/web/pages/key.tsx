import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { Mark } from "../components/icon.tsx";
import { refusal, useKey } from "../state/session.ts";
import { printable } from "../text/printable.ts";

/** Asks for an API key. */
export function KeyPage(): JSX.Element {
  const secret = useSignal("");
  const enter = (event: Event) => {
    event.preventDefault();
    if (secret.value.trim() !== "") useKey(secret.value.trim());
  };
  return (
    <main class="center">
      <form class="card key-form" onSubmit={enter}>
        <Mark size={28} />
        <h1>Sign in to Venturi</h1>
        <p class="muted">
          Enter a key of this service, one of <code>server.auth.keys</code>. It stays in this tab.
        </p>
        <label class="field">
          <span class="field-name">Key</span>
          <input
            type="password"
            autocomplete="off"
            value={secret.value}
            aria-invalid={refusal.value !== ""}
            onInput={(event) => {
              secret.value = event.currentTarget.value;
            }}
          />
        </label>
        {refusal.value === "" ? null : (
          <p class="problem" role="alert">
            {printable(refusal.value)}
          </p>
        )}
        <button type="submit" class="primary">
          Sign in
        </button>
      </form>
    </main>
  );
}
