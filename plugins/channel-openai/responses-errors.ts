import { retryField } from "venturi/internal";
import type { ErrorJson } from "venturi/plugin";
import { errorBody } from "./errors.ts";

/** `ResponseError.code` of the API; its clients match on them. */
const codes = [
  "server_error",
  "rate_limit_exceeded",
  "invalid_prompt",
  "data_residency_mismatch",
  "bio_policy",
  "misalignment_policy_violation",
  "vector_store_timeout",
  "invalid_image",
  "invalid_image_format",
  "invalid_base64_image",
  "invalid_image_url",
  "image_too_large",
  "image_too_small",
  "image_parse_error",
  "image_content_policy_violation",
  "invalid_image_mode",
  "image_file_too_large",
  "unsupported_image_media_type",
  "empty_image_file",
  "failed_to_download_image",
  "image_file_not_found",
];

/** The error of a response, in the API's own codes; what went wrong is in the message. */
export function responseError(error: ErrorJson): Record<string, unknown> {
  const { message, type, param } = errorBody(error).error;
  return { code: codeOf(error), message, type, param, ...retryField(error) };
}

function codeOf({ code, details }: ErrorJson): string {
  const said = codes.find((known) => known === details?.vendorCode);
  if (said !== undefined) return said;
  if (code === "rate_limited") return "rate_limit_exceeded";
  return code === "invalid_input" || code === "too_large" ? "invalid_prompt" : "server_error";
}
