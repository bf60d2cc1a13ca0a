export interface DataUrl {
  /** As written; empty if missing. */
  readonly mediaType: string;
  /** The text between media type and `;base64`, including its semicolons. */
  readonly parameters: string;
  readonly isBase64: boolean;
  readonly data: string;
}

const scheme = "data:";
const longestHeader = 300;
const base64 = ";base64";

/** Undefined if it is not a data URL. Scans only the header, however long the data. */
export function parseDataUrl(url: string): DataUrl | undefined {
  const head = url.slice(0, scheme.length + longestHeader + 1);
  if (!head.startsWith(scheme)) return undefined;
  const comma = head.indexOf(",");
  if (comma < 0) return undefined;
  const header = head.slice(scheme.length, comma);
  const isBase64 = header.endsWith(base64);
  const described = isBase64 ? header.slice(0, -base64.length) : header;
  const semicolon = described.indexOf(";");
  const end = semicolon < 0 ? described.length : semicolon;
  return {
    mediaType: described.slice(0, end),
    parameters: described.slice(end),
    isBase64,
    data: url.slice(comma + 1),
  };
}

/** Builds a data URL, for wires that take content as a URL. */
export const dataUrl = ({ mediaType, data }: { readonly mediaType: string; readonly data?: string }): string =>
  `${scheme}${mediaType}${base64},${data ?? ""}`;
