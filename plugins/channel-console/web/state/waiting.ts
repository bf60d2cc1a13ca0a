import { announce } from "../components/announce.tsx";
import { feedOpen, onFeed } from "./feed.ts";
import { client, may } from "./session.ts";
import { waiting } from "./title.ts";

const every = 5_000;

/** Counts open questions when the feed reports one, or by polling without a feed; returns a function that stops it. */
export function startWaiting(): () => void {
  const ask = async () => {
    if (!may("see")) return;
    const { questions } = await client.value.questions({ limit: 50 });
    if (questions.length > waiting.value) announce(`${questions.length} questions need an answer`, "assertive");
    waiting.value = questions.length;
  };
  const again = () => void ask().catch(() => {});
  again();
  const timer = setInterval(() => !feedOpen.value && !document.hidden && again(), every);
  let soon: ReturnType<typeof setTimeout> | undefined;
  const stop = onFeed(({ type }) => {
    if (!/^(?:feed\.(?:opened|gap)|approval\.|question\.)/.test(type)) return;
    clearTimeout(soon);
    soon = setTimeout(again, 300);
  });
  return () => {
    clearInterval(timer);
    clearTimeout(soon);
    stop();
  };
}
