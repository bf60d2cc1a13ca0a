import { type Signal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { ClientError } from "venturi/client";

export interface Resource<T> {
  readonly data: T | undefined;
  readonly error: ClientError | undefined;
  readonly loading: boolean;
  again(): void;
}

/** A response of the API, requested again when `deps` change, and every `every` ms while the page is visible. */
export function useResource<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  deps: readonly unknown[],
  every?: number,
): Resource<T> {
  const state: Signal<Omit<Resource<T>, "again">> = useMemo(
    () => signal({ data: undefined, error: undefined, loading: true }),
    [],
  );
  const counter = useMemo(() => signal(0), []);
  const turn = counter.value;
  useEffect(() => {
    const abort = new AbortController();
    const run = async () => {
      try {
        const data = await ask(abort.signal);
        if (!abort.signal.aborted) state.value = { data, error: undefined, loading: false };
      } catch (thrown) {
        if (abort.signal.aborted) return;
        const error =
          thrown instanceof ClientError
            ? thrown
            : new ClientError({ op: "page.ask", code: "internal", err: String(thrown) });
        state.value = { data: state.value.data, error, loading: false };
      }
    };
    void run();
    const timer = every === undefined ? undefined : setInterval(() => !document.hidden && void run(), every);
    return () => {
      abort.abort();
      clearInterval(timer);
    };
  }, [...deps, turn]);
  return {
    ...state.value,
    again: () => {
      counter.value += 1;
    },
  };
}
