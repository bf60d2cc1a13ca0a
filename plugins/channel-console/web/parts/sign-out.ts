import { forgetKey, me } from "../state/session.ts";
import { confirm } from "./confirm.tsx";

/** The key is in no other place: whoever signs out needs it again. */
export const askToSignOut = (): void =>
  confirm({
    title: "Sign out?",
    text: `The key${me.value.id === "" ? "" : ` of ${me.value.id}`} is forgotten in all tabs, and has to be entered again.`,
    word: "Sign out",
    run: forgetKey,
  });
