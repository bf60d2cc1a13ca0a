/** Whether this Node runs `await using` as written: from 24 on. TypeScript's and esbuild's output runs on 22, too. */
export const hasUsing = Number(process.versions.node.split(".")[0]) >= 24;
