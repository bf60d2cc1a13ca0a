/** `venturi/plugin/provider`: what a provider needs beyond `venturi/plugin`. */
export { argumentsObject, argumentsText, textOf } from "./core/model/messages.ts";
export { withNative } from "./core/model/native.ts";
export { dataUrl } from "./core/values/data-url.ts";
export { collectWith } from "./provider/collect.ts";
export { asCount, asList, asRecord, asText, parseJson } from "./provider/fast-json/wire-json.ts";
export { framesOf } from "./provider/frames/framing.ts";
export { httpOptions } from "./provider/http/options.ts";
export { httpProvider } from "./provider/http/provider.ts";
export { codeInBody } from "./provider/http/response-error.ts";
export { Quirks } from "./provider/quirks.ts";
export { Transcript } from "./provider/transcript.ts";
