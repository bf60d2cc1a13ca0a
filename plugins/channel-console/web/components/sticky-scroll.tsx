import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { LiveRun } from "../state/live.ts";
import { Icon } from "./icon.tsx";

/** Keeps the end in view while text arrives, unless the reader scrolled up; a button then leads to the latest. */
export function StickyScroll({
  live,
  children,
}: {
  live: LiveRun | undefined;
  children: ComponentChildren;
}): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const sticky = useRef(true);
  const away = useSignal(false);
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const onScroll = () => {
      const left = element.scrollHeight - element.scrollTop - element.clientHeight;
      sticky.current = left < 60;
      away.value = left > 200;
    };
    element.addEventListener("scroll", onScroll, { passive: true });
    onScroll();
    return () => element.removeEventListener("scroll", onScroll);
  }, []);
  useEffect(() => {
    sticky.current = live === undefined || live.whole.endedAt === undefined;
  }, [live]);
  useEffect(() => {
    const element = scroller.current;
    if (element !== null && sticky.current) element.scrollTop = element.scrollHeight;
  }, [live?.tick.value]);
  // Earlier runs that load above, and a timeline that opens below, move the end without a new event.
  useEffect(() => {
    const element = scroller.current;
    if (element === null || live === undefined) return;
    const observer = new ResizeObserver(() => {
      if (sticky.current && live.whole.endedAt === undefined) element.scrollTop = element.scrollHeight;
    });
    observer.observe(element);
    if (content.current !== null) observer.observe(content.current);
    return () => observer.disconnect();
  }, [live]);
  const toEnd = () => {
    const element = scroller.current;
    if (element !== null) element.scrollTop = element.scrollHeight;
  };
  return (
    <div class="sticky-scroll">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section class="scroll" ref={scroller} tabIndex={0} aria-label="Conversation">
        <div ref={content}>{children}</div>
      </section>
      {away.value ? (
        <button type="button" class="to-latest" onClick={toEnd}>
          <Icon name="down" size={14} /> Latest
        </button>
      ) : null}
    </div>
  );
}
