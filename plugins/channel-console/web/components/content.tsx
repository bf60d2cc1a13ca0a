import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { Content as Item } from "../fold/view.ts";
import { fetchContent } from "../state/content.ts";
import { printable } from "../text/printable.ts";
import { bytes } from "../text/words.ts";

/** Only these types are given to the browser as images. */
const pictures = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const largest = 8_000_000;

/** An image or file of a run: from the event or the journal, never from a URL. */
export function Content({ content, run }: { content: Item; run: string }): JSX.Element {
  const { mediaType, name, size } = content;
  const url = useSignal<string | undefined>(undefined);
  const isPicture = pictures.includes(mediaType) && (size ?? content.data?.length ?? 0) < largest;
  useEffect(() => {
    if (!isPicture) return;
    let made: string | undefined;
    let left = false;
    fetchContent(run, content).then(
      (data) => {
        if (left || data === undefined) return;
        made = URL.createObjectURL(new Blob([data], { type: mediaType }));
        url.value = made;
      },
      () => {},
    );
    return () => {
      left = true;
      if (made !== undefined) URL.revokeObjectURL(made);
    };
  }, [content, run, isPicture]);
  const label = printable(name ?? mediaType);
  if (url.value !== undefined) return <img class="picture" src={url.value} alt={label} />;
  return (
    <span class="chip">
      {isPicture ? "image" : "file"}: {label}
      {size === undefined ? "" : `, ${bytes(size)}`}
    </span>
  );
}
