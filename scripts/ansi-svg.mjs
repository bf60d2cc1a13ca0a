/** A terminal's output as an SVG: colours, carriage returns and erasing are understood, other escape sequences left out. */
export function picture({ title, text, columns }) {
  const lines = screen(text, columns);
  const width = columns * cell.width + 2 * margin;
  const height = lines.length * cell.height + top + margin;
  const rows = lines.map((line, row) =>
    runsOf(line)
      .map((run) => drawn(run, row))
      .join(""),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${round(width)} ${height}" width="${round(width)}" role="img" aria-label="${escaped(title)}">
<title>${escaped(title)}</title>
<rect width="100%" height="100%" rx="8" fill="#16181d"/>
<g fill="#3b3f4a"><circle cx="20" cy="18" r="6"/><circle cx="40" cy="18" r="6"/><circle cx="60" cy="18" r="6"/></g>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13">
${rows.filter(Boolean).join("\n")}
</g>
</svg>
`;
}

const escapeCharacter = "\u001b";
const cell = { width: 7.8, height: 18 };
const margin = 16;
const top = 40;
const plain = { fill: "#d7dae0", dim: false, bold: false };
const colors = ["#3b3f4a", "#ef6b73", "#8ccf7e", "#e5c76b", "#67b0e8", "#c47fd5", "#6cbfbf", "#d7dae0"];

const sequences = new RegExp(`${escapeCharacter}\\[([\\d;?]*)([A-Za-z])|([\\s\\S])`, "gu");

/** Rows of cells, as a terminal of this width would show them at the end. */
function screen(text, columns) {
  const lines = [[]];
  let at = 0;
  let style = plain;
  for (const [, sequence, letter, character] of text.matchAll(sequences)) {
    const line = lines.at(-1);
    if (letter === "m") style = restyle(style, sequence);
    else if (letter === "K") line.length = sequence === "2" ? 0 : Math.min(line.length, at);
    else if (character === "\r") at = 0;
    else if (character === "\n") {
      lines.push([]);
      at = 0;
    } else if (character !== undefined && character >= " ") {
      if (at === columns) {
        lines.push([]);
        at = 0;
      }
      const row = lines.at(-1);
      while (row.length < at) row.push({ character: " ", style: plain });
      row[at++] = { character, style };
    }
  }
  while (lines.length > 0 && lines.at(-1).length === 0) lines.pop();
  return lines;
}

function restyle(style, sequence) {
  let next = style;
  for (const code of sequence.split(";").map(Number)) {
    if (code === 0) next = plain;
    else if (code === 1) next = { ...next, bold: true };
    else if (code === 2) next = { ...next, dim: true };
    else if (code === 22) next = { ...next, bold: false, dim: false };
    else if (code === 39) next = { ...next, fill: plain.fill };
    else if ((code >= 30 && code < 38) || (code >= 90 && code < 98)) next = { ...next, fill: colors[code % 10] };
  }
  return next;
}

/** Neighbours of one style together, each with the column it begins at. */
function runsOf(line) {
  const runs = [];
  for (const [column, { character, style }] of line.entries()) {
    const last = runs.at(-1);
    if (last?.style === style) last.text += character;
    else runs.push({ column, style, text: character });
  }
  return runs.filter((run) => run.text.trim() !== "");
}

/** Blanks part the pieces, since renderers disagree about several in a row; bars are drawn, so that no font leaves gaps in them. */
function drawn({ column, style, text }, row) {
  const pieces = text.matchAll(/[█▏▎▍▌▋▊▉]+|[^\s█▏▎▍▌▋▊▉]+(?: [^\s█▏▎▍▌▋▊▉]+)*/gu);
  return [...pieces].map(({ 0: piece, index }) => element(piece, column + index, { style, row })).join("");
}

function element(piece, column, { style, row }) {
  const x = round(margin + column * cell.width);
  const paint = `fill="${style.fill}"${style.bold ? ' font-weight="bold"' : ""}${style.dim ? ' opacity="0.6"' : ""}`;
  if (eighths(piece[0]) > 0) {
    const width = [...piece].reduce((sum, block) => sum + eighths(block), 0) * (cell.width / 8);
    return `<rect x="${x}" y="${top + row * cell.height + 2}" width="${round(width)}" height="${cell.height - 4}" ${paint}/>`;
  }
  // The length keeps the columns straight whatever font there is.
  const length = round([...piece].length * cell.width);
  return `<text x="${x}" y="${top + (row + 0.75) * cell.height}" ${paint} textLength="${length}">${escaped(piece)}</text>`;
}

/** How much of its cell a block fills, from its left. */
const eighths = (character) => " ▏▎▍▌▋▊▉█".indexOf(character);

const round = (value) => Math.round(value * 10) / 10;
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
