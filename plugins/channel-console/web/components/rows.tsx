import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { bindList } from "../state/keys.ts";
import { keepScroll, keptScroll } from "../state/router.ts";

export interface RowsProps {
  readonly label: string;
  readonly count: number;
  readonly height: number;
  /** Index, or -1. */
  readonly selected: number;
  readonly choose: (index: number) => void;
  readonly row: (index: number) => ComponentChildren;
  readonly className?: string;
  /** Makes rows links, so that new tabs, the middle button and copying the address work. */
  readonly href?: (index: number) => string;
  /** The page's main list: `j` and `k` move in it from anywhere. */
  readonly main?: boolean;
  /** Called when the last rows come into view. */
  readonly reachedEnd?: () => void;
}

const overscan = 8;

/** A virtualised list. One tab stop; arrows, j and k, Home and End move within. */
export function Rows(props: RowsProps): JSX.Element {
  const { label, count, height, selected, choose, row, className = "" } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const window = useSignal({ top: 0, height: 600 });
  const cursor = useSignal(Math.max(0, selected));
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const measure = () => {
      const { scrollTop, clientHeight } = element;
      const { top, height: known } = window.value;
      if (top !== scrollTop || known !== clientHeight) window.value = { top: scrollTop, height: clientHeight };
    };
    const top = keptScroll(label);
    if (top > 0) element.scrollTop = top;
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onScroll = () => {
      measure();
      clearTimeout(timer);
      timer = setTimeout(() => keepScroll(label, element.scrollTop), 100);
    };
    element.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      clearTimeout(timer);
      observer.disconnect();
      element.removeEventListener("scroll", onScroll);
    };
  }, []);
  const reveal = (index: number) => {
    const element = scroller.current;
    if (element === null) return;
    const top = index * height;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + height > element.scrollTop + element.clientHeight)
      element.scrollTop = top + height - element.clientHeight;
  };
  useEffect(() => {
    if (selected < 0) return;
    cursor.value = selected;
    reveal(selected);
  }, [selected]);
  // All rows have the same height, so the visible range is a division.
  const first = Math.max(0, Math.floor(window.value.top / height) - overscan);
  const last = Math.min(count - 1, Math.ceil((window.value.top + window.value.height) / height) + overscan);
  const items = Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);
  useEffect(() => {
    if (count > 0 && last >= count - 5) props.reachedEnd?.();
  }, [last, count]);

  const move = (to: number) => {
    const index = Math.min(count - 1, Math.max(0, to));
    cursor.value = index;
    reveal(index);
    // The row exists only after scrolling to it.
    requestAnimationFrame(() => scroller.current?.querySelector<HTMLElement>(`[data-row="${index}"]`)?.focus());
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const at = cursor.value;
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? height) / height) - 1);
    const targets: Readonly<Record<string, number>> = {
      ArrowDown: at + 1,
      j: at + 1,
      ArrowUp: at - 1,
      k: at - 1,
      PageDown: at + page,
      PageUp: at - page,
      Home: 0,
      End: count - 1,
    };
    const target = targets[event.key];
    if (target !== undefined && !event.metaKey && !event.ctrlKey && !event.altKey) {
      event.preventDefault();
      event.stopPropagation();
      move(target);
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      event.stopPropagation();
      choose(at);
    }
  };
  useEffect(() => {
    if (props.main !== true) return;
    return bindList((step) => {
      const inside = scroller.current?.contains(document.activeElement) === true;
      move(inside ? cursor.value + step : cursor.value);
    });
  });
  return (
    <div ref={scroller} class={`rows ${className}`}>
      {/* biome-ignore lint/a11y/useSemanticElements: a table cannot leave out the rows that are not seen */}
      <div
        role="grid"
        aria-rowcount={count}
        tabIndex={-1}
        onKeyDown={onKeyDown}
        aria-label={label}
        class="rows-inner"
        style={{ height: `${count * height}px` }}
      >
        {items.map((index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled for the whole list above
          // biome-ignore lint/a11y/useSemanticElements: as above
          <div
            key={index}
            data-row={index}
            role="row"
            aria-selected={index === selected}
            aria-rowindex={index + 1}
            tabIndex={index === Math.min(cursor.value, count - 1) ? 0 : -1}
            class={index === selected ? "row selected" : "row"}
            style={{ transform: `translateY(${index * height}px)`, height: `${height}px` }}
            onClick={() => {
              cursor.value = index;
              if (props.href === undefined) choose(index);
            }}
          >
            {props.href === undefined ? null : (
              // biome-ignore lint/a11y/useAnchorContent: the row is its name, and takes the focus
              <a class="row-link" href={props.href(index)} tabIndex={-1} aria-hidden="true" draggable={false} />
            )}
            {/* biome-ignore lint/a11y: rows take the focus, and are no table, see above */}
            <div role="gridcell" class="cell">
              {row(index)}
            </div>
          </div>
        ))}
      </div>
    </div>
  );
}
