import { isUtf8 } from "node:buffer";
import { VenturiError } from "../../core/errors/errors.ts";

/** Stands for bytes that are not UTF-8, but may also have been sent. */
export const replacement = "\uFFFD";

/** Whether decoding `bytes` to `text` replaced some of them. */
export const isReplaced = (text: string, bytes: Uint8Array): boolean => text.includes(replacement) && !isUtf8(bytes);

/** A text with a replaced character is still worth reading; a tool would act on what nobody sent. */
export const notUtf8 = (): VenturiError =>
  new VenturiError("stream.frame", "stream_error", "a call is not UTF-8 in the provider's answer");
