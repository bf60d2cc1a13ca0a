import { forgetKey, me } from "../state/session.ts";
import { confirm } from "./confirm.tsx";

/** Asks first: the key is stored nowhere else, so it will be needed again. */
export const askToSignOut = (): void =>
  confirm({
    title: "Sign out?",
    text: `The key${me.value.id === "" ? "" : ` of ${me.value.id}`} is forgotten in all tabs, and has to be entered again.`,
    word: "Sign out",
    run: forgetKey,
  });
