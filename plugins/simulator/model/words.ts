/** Words of a text, in lower case. `orderStatus` and `order_status` are split. */
export function wordsOf(text: string): string[] {
  const parted = text.replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2").toLowerCase();
  return parted.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Topics of a text: unique stems without stop words. */
export function topicsOf(text: string): Set<string> {
  const topics = new Set<string>();
  for (const word of wordsOf(text)) {
    if (!small.has(word)) topics.add(stem(word));
  }
  return topics;
}

/** Good enough to match "orders", "ordered" and "ordering"; never shorter than three letters. */
export function stem(word: string): string {
  const known = synonyms.get(word);
  if (known !== undefined) return known;
  const bare = word.replace(/(?:ies)$/, "y").replace(/(?:ing|ed|es|s|e)$/, "");
  return synonyms.get(bare) ?? (bare.length < 3 ? word : bare);
}

const list = (words: string): string[] => words.split(" ");

export const small = new Set(
  list(
    "a an the this that these those it its is are was were be been am do does did can could would should will shall may might must " +
      "i me my mine you your we us our he she they them his her their what which who whom whose when where why how " +
      "of in on at to from by for with without about into over as than then and or but so if not no yes please tell give show get let " +
      "want need know use using tool tools call run make there here any some all also just too very now hi hello hey thanks thank " +
      "s t re ve ll m d returns return given one more up out like user s",
  ),
);

/** Synonyms, each group under its first word. */
const synonyms = new Map(
  [
    "search find lookup look seek query google",
    "read open view cat",
    "list enumerate",
    "weather forecast temperature",
    "time date clock hour oclock timestamp today",
    "calculate calculator compute calculation evaluate math maths arithmetic",
    "write save store",
    "delete remove erase",
    "file files document documents",
    "folder directory directories folders",
    "fetch download http url",
    "shell command terminal bash",
  ].flatMap((group) => {
    const [first = "", ...others] = list(group);
    return [first, ...others].map((word): [string, string] => [word, first]);
  }),
);
