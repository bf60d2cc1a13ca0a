/** RFC 6838 allows 127 characters per name; no registered type with parameters comes near this length. */
const longest = 255;

/** `type/subtype`, where either may be `*`, and parameters of printable ASCII. */
const form = /^[\w!#$&^.+*-]+\/[\w!#$&^.+*-]+(?: *;[\x20-\x7e]*)?$/;

export const isMediaType = (text: string): boolean => text.length <= longest && form.test(text);

/** An audio type's name in OpenAI's wires: `mp3` for `audio/mpeg`, otherwise the subtype. */
export function audioFormat(mediaType: string): string {
  const end = mediaType.indexOf(";");
  const subtype = mediaType.slice("audio/".length, end < 0 ? undefined : end).trimEnd();
  const name = subtype.startsWith("x-") ? subtype.slice(2) : subtype;
  return name === "mpeg" ? "mp3" : name === "wave" || name === "vnd.wave" ? "wav" : name;
}
