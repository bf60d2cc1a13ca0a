/**
 * Exceptions to Unicode's sentence segmentation (UAX #29): abbreviations, ordinals, addresses, quoted questions. The language
 * is unknown, so the rules of all languages apply at once.
 */

/** Abbreviations that precede what they belong to, so no sentence ends with them. Lower case, without the final period. */
const abbreviations = new Set(
  `
  mr mrs ms dr prof st sr jr gen col lt sgt capt cmdr rev hon pres gov sen rep messrs mt vs cf fig figs vol pp approx dept est e.g i.e viz
  z.b d.h u.a bzw ca nr evtl ggf inkl exkl vgl s.o s.u abs bd hr fr frl dipl ing sog z.t i.d.r u.u geb verh tel bspw zzgl
  m mm mme mmes mlle mlles pr ste p.ex c.-à-d art env éd chap
  sra srta sres dra d dña ud uds vd vds p.ej pág págs núm avda tel
  sig sigg dott prof.ssa dott.ssa avv arch geom on p.es pag pagg cfr gent egr
  exmo exma profa n.º pça av
  dhr mevr mw ir drs bijv d.w.z m.b.t o.a i.p.v t.a.v blz evt resp incl excl t.o.v m.u.v
  t.ex bl.a d.v.s dvs s.k kl f.eks osv.f fr.o.m t.o.m
  np tj tzn mgr inż ul św im ks m.in ok
  např tzv č str sv kap mudr judr
  т.е т.к т.н г ул стр рис см им проф акад напр гр
  doç sn örn bkz yy cad sok
  `
    .trim()
    .split(/\s+/),
);

/** Never end a sentence before a number, but do when alone ("No."). */
const beforeNumbers = new Set("no nos p ch sec art nr n núm č sz št op eq ex".split(" "));

/** Months of languages that write days as "3." */
const months = `
  januar februar märz april mai juni juli august september oktober november dezember
  jänner marts maj juli oktober december mars juni
  ledna února března dubna května června července srpna září října listopadu prosince
  stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października grudnia
  tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta marraskuuta joulukuuta
  január február március április május június július augusztus szeptember október november december
  siječnja veljače ožujka travnja svibnja lipnja srpnja kolovoza rujna listopada studenoga prosinca
`
  .trim()
  .split(/\s+/);

const lastWord = /(?:^|[\s("'«„“‚[—–/])([\p{L}\p{M}.ºª-]+)\.\s*$/u;
const longest = 60;
/** "p. ex.", "i. d. R." */
const spacedWords = /(?:^|[\s("'«„“])((?:\p{L}\.\s?)+\p{L}+)\.\s*$/u;
const singleLetter = /(?:^|[\s("'«„“.])[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Greek}]\.\s*$/u;
const listNumber = /(?:^|\n)\s*\d+[.)]\s*$/;
const ordinal = /(?:^|\s)\d{1,2}\.\s+$/;
const ideographs = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;
const closers = `["'”’»)\\]]`;
const unspaced = new RegExp(`[.!?]${closers}*$`);
const quotedEnd = new RegExp(`[.!?…]${closers}+\\s+$`);

/** Whether the text that seems to end a sentence continues with `after`; also true while undecided. */
export function goesOn(text: string, after: string): boolean {
  const before = text.length > longest ? `x${text.slice(-longest)}` : text; // The rules only look at the last words.
  if (listNumber.test(before) || singleLetter.test(before)) return true;
  // "https://x.test/a?b=1", "node.js": no space follows, and the script is not one written without spaces.
  if (unspaced.test(before)) return after !== "" && !/^\s/.test(after) && !ideographs.test(after);
  if (quotedEnd.test(before) && /^\p{Ll}/u.test(after)) return true; // "Why?" he asked
  const word = lastWord.exec(before)?.[1]?.toLowerCase();
  if (word !== undefined && abbreviations.has(word)) return true;
  const spaced = spacedWords.exec(before)?.[1]?.toLowerCase().replaceAll(/\s/g, "");
  if (spaced !== undefined && abbreviations.has(spaced)) return true;
  if (word !== undefined && beforeNumbers.has(word)) return /^\d/.test(after) || after === "";
  return ordinal.test(before) && mayBeMonth(after);
}

function mayBeMonth(after: string): boolean {
  const [word = "", ended = ""] = /^([\p{L}]*)(.?)/su.exec(after.toLowerCase())?.slice(1) ?? [];
  return ended === "" ? months.some((month) => month.startsWith(word)) : months.includes(word);
}
