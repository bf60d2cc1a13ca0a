/** RFC 6838 allows 127 characters for each name; no registered type with its parameters comes near this. */
const longest = 255;

/** `type/subtype`, where either may be `*`, and parameters of printable ASCII. */
const form = /^[\w!#$&^.+*-]+\/[\w!#$&^.+*-]+(?: *;[\x20-\x7e]*)?$/;

export const isMediaType = (text: string): boolean => text.length <= longest && form.test(text);

/** Name of an audio type in OpenAI's wires: `audio/mpeg` is MP3; for others the subtype is the format. */
export function audioFormat(mediaType: string): string {
  const end = mediaType.indexOf(";");
  const subtype = mediaType.slice("audio/".length, end < 0 ? undefined : end).trimEnd();
  const name = subtype.startsWith("x-") ? subtype.slice(2) : subtype;
  return name === "mpeg" ? "mp3" : name === "wave" || name === "vnd.wave" ? "wav" : name;
}
