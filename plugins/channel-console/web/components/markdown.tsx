import type { Token, Tokens } from "marked";
import type { ComponentChildren, JSX } from "preact";
import { useRef } from "preact/hooks";
import { Blocks } from "../text/blocks.ts";
import { decodeEntities, largestBlock, lex, safeLink } from "../text/lex.ts";
import { printable } from "../text/printable.ts";
import { Code } from "./code.tsx";
import { memo } from "./memo.ts";

/** Renders Markdown as elements: nothing is parsed as HTML. While text streams, only the last block is lexed again. */
export function Markdown({ text, open = false }: { text: string; open?: boolean }): JSX.Element {
  const state = useRef<{ blocks: Blocks; taken: number } | undefined>(undefined);
  const lexed = useRef<{ text: string; at: number }>({ text: "", at: 0 });
  if (state.current === undefined || text.length < state.current.taken)
    state.current = { blocks: new Blocks(), taken: 0 };
  const { blocks } = state.current;
  blocks.push(text.slice(state.current.taken));
  state.current.taken = text.length;
  // A long block that still grows is lexed only a few times a second.
  const now = performance.now();
  const isDue = blocks.open.length < 2048 || now - lexed.current.at > 250 || !open;
  if (isDue) lexed.current = { text: blocks.open, at: now };
  else if (!blocks.open.startsWith(lexed.current.text)) lexed.current = { text: blocks.open, at: now };
  const tail = blocks.open.slice(lexed.current.text.length);
  return (
    // dir="auto" is set per block: on the whole text the browser would recompute the direction at every change.
    <div class={open ? "prose open" : "prose"}>
      {blocks.closed.map((block, index) => (
        <Block key={index} text={block} />
      ))}
      <Block text={lexed.current.text} />
      {tail === "" ? null : (
        <span class="pre-wrap" dir="auto">
          {printable(tail)}
        </span>
      )}
    </div>
  );
}

const Block = memo(({ text }: { text: string }) => {
  if (text.trim() === "") return null;
  if (text.length > largestBlock)
    return (
      <p class="pre-wrap" dir="auto">
        {printable(text)}
      </p>
    );
  return <>{blocks(lex(text), 0)}</>;
});

const deepest = 32;

function blocks(tokens: readonly Token[], depth: number): ComponentChildren[] {
  return tokens.map((token) => (depth > deepest ? text(token.raw) : block(token, depth)));
}

function block(token: Token, depth: number): ComponentChildren {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "hr":
      return <hr />;
    case "heading": {
      const { depth: level, tokens } = token as Tokens.Heading;
      // The page has its own headings above, so those of the text start lower.
      const Tag = `h${Math.min(6, level + 2)}` as "h3";
      return <Tag dir="auto">{inline(tokens, depth + 1)}</Tag>;
    }
    case "paragraph":
      return <p dir="auto">{inline((token as Tokens.Paragraph).tokens, depth + 1)}</p>;
    case "text": {
      const { tokens, raw } = token as Tokens.Text;
      return tokens === undefined ? text(raw) : inline(tokens, depth + 1);
    }
    case "blockquote":
      return <blockquote dir="auto">{blocks((token as Tokens.Blockquote).tokens, depth + 1)}</blockquote>;
    case "list":
      return list(token as Tokens.List, depth);
    case "code": {
      const { text: code, lang } = token as Tokens.Code;
      return <Code text={code} language={lang ?? ""} />;
    }
    case "table":
      return table(token as Tokens.Table, depth);
    case "html":
    case "plain":
      return (
        <p class="pre-wrap" dir="auto">
          {printable(token.raw)}
        </p>
      );
    default:
      return inline([token], depth + 1);
  }
}

function list({ ordered, start, items }: Tokens.List, depth: number): JSX.Element {
  const rows = items.map((item, index) => (
    <li key={index} class={item.task ? "task" : undefined}>
      {item.task ? <span class="box">{item.checked ? "☑ " : "☐ "}</span> : null}
      {blocks(
        item.tokens.filter(({ type }) => type !== "checkbox"),
        depth + 1,
      )}
    </li>
  ));
  return ordered ? (
    <ol dir="auto" start={typeof start === "number" ? start : 1}>
      {rows}
    </ol>
  ) : (
    <ul dir="auto">{rows}</ul>
  );
}

function table({ header, rows, align }: Tokens.Table, depth: number): JSX.Element {
  const side = (column: number) => (align[column] === null ? undefined : `to-${align[column]}`);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="table-scroll" dir="auto" tabIndex={0} aria-label="Table">
      <table>
        <thead>
          <tr>
            {header.map(({ tokens }, column) => (
              <th class={side(column)}>{inline(tokens, depth + 1)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {row.map(({ tokens }, column) => (
                <td class={side(column)}>{inline(tokens, depth + 1)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function inline(tokens: readonly Token[] | undefined, depth: number): ComponentChildren[] {
  return (tokens ?? []).map((token) => (depth > deepest ? text(token.raw) : span(token, depth)));
}

function span(token: Token, depth: number): ComponentChildren {
  const inner = () => inline((token as { tokens?: Token[] }).tokens, depth + 1);
  switch (token.type) {
    case "strong":
      return <strong>{inner()}</strong>;
    case "em":
      return <em>{inner()}</em>;
    case "del":
      return <del>{inner()}</del>;
    case "codespan":
      return <code>{printable((token as Tokens.Codespan).text)}</code>;
    case "br":
      return <br />;
    case "link":
      return link(token as Tokens.Link, inner());
    case "image":
      return image(token as Tokens.Image);
    case "escape":
      return text((token as Tokens.Escape).text);
    case "text": {
      const { tokens, raw } = token as Tokens.Text;
      return tokens === undefined ? text(raw) : inline(tokens, depth + 1);
    }
    default:
      return text(token.raw);
  }
}

/** Shows a link's target if its text says something else. */
function link({ href, raw }: Tokens.Link, children: ComponentChildren[]): ComponentChildren {
  const url = safeLink(href);
  if (url === undefined) return text(raw);
  const isBare = raw.includes(url.host) && !raw.startsWith("[");
  return (
    <a href={url.href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
      {isBare || url.host === "" ? null : <span class="host"> ({printable(url.host)})</span>}
    </a>
  );
}

/** Never fetched: an image URL written by a model could leak what it knows. */
function image({ href, text: alt }: Tokens.Image): JSX.Element {
  const url = safeLink(href);
  return (
    <span class="chip">
      image: {printable(alt || "untitled")}
      {url === undefined ? "" : ` → ${printable(url.host)}`}
    </span>
  );
}

const text = (raw: string): string => printable(decodeEntities(raw));
