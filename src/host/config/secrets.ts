const names = /(?:api_?key|secret|token|password|passphrase|authorization|credentials?|cookie|sha256)$|^key$/i;

/** Whether a key's name suggests a secret value. */
export const isSecretName = (name: string): boolean => names.test(name);
