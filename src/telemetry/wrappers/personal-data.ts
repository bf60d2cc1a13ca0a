import type { Mask } from "../../core/values/secret-forms.ts";

/** Masks from `-----BEGIN … PRIVATE KEY-----` to its end, or to the end of the text. */
export function maskPrivateKeys(text: string, mask: Mask): string {
  let clean = "";
  let done = 0;
  for (let at = text.indexOf(begin); at >= 0; at = text.indexOf(begin, at)) {
    const body = endOfLabel(text, at + begin.length);
    if (body < 0) {
      at += begin.length;
      continue;
    }
    const stop = endOfKey(text, body);
    clean += text.slice(done, at) + mask(text.slice(at, stop), 0);
    done = stop;
    at = stop;
  }
  return done === 0 ? text : clean + text.slice(done);
}

const begin = "-----BEGIN ";
const end = "-----END ";
const label = "PRIVATE KEY-----";
/** The longest label in use is "ENCRYPTED PRIVATE KEY". */
const longestLabel = 64;

function endOfLabel(text: string, start: number): number {
  const head = text.slice(start, start + longestLabel);
  const at = head.indexOf(label);
  return at >= 0 && /^[A-Z ]*$/.test(head.slice(0, at)) ? start + at + label.length : -1;
}

function endOfKey(text: string, body: number): number {
  for (let at = text.indexOf(end, body); at >= 0; at = text.indexOf(end, at + end.length)) {
    const stop = endOfLabel(text, at + end.length);
    if (stop >= 0) return stop;
  }
  return text.length;
}

const longestLocal = 64;
/** Sticky: starts after the `@`. Bounded, and cannot pass the next `@`. */
const domain = /[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/uy;

export function maskEmails(text: string, mask: Mask): string {
  let clean = "";
  let done = 0;
  for (let at = text.indexOf("@"); at >= 0; at = text.indexOf("@", at + 1)) {
    const start = startOfLocal(text, at, done);
    if (start === at) continue;
    domain.lastIndex = at + 1;
    const host = domain.exec(text);
    if (host === null) continue;
    clean += text.slice(done, start) + mask(text.slice(start, domain.lastIndex), 0);
    done = domain.lastIndex;
    at = done - 1;
  }
  return done === 0 ? text : clean + text.slice(done);
}

function startOfLocal(text: string, at: number, floor: number): number {
  let start = at;
  for (let count = 0; count < longestLocal && start > floor; count++) {
    const last = text.charCodeAt(start - 1);
    const isPair = last >= 0xdc00 && last <= 0xdfff && start - 1 > floor;
    const before = isPair ? start - 2 : start - 1;
    if (!local.test(text.slice(before, start))) break;
    start = before;
  }
  return start;
}

/** Matches one character. */
const local = /^[\p{L}\p{N}._%+-]$/u;

/** For `replace`, together with `isCardNumber`. Bounded: at most 19 digits with separators. */
export const cardLike = /(?<![\d.])\d(?:[ -]?\d){12,18}(?![\d])/gu;

/** 13 to 19 digits with a valid Luhn check digit; order numbers and timestamps rarely have one. */
export function isCardNumber(text: string): boolean {
  let sum = 0;
  let count = 0;
  for (let index = text.length - 1; index >= 0; index--) {
    const digit = text.charCodeAt(index) - 48;
    if (digit < 0 || digit > 9) continue;
    const doubled = count % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
    count++;
  }
  return count >= 13 && count <= 19 && sum % 10 === 0 && sum > 0;
}
