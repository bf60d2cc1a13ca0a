const names = /(?:api_?key|secret|token|password|passphrase|authorization|credentials?|cookie|sha256)$|^key$/i;

/** Whether a key's name says that its value is not for showing. */
export const isSecretName = (name: string): boolean => names.test(name);
