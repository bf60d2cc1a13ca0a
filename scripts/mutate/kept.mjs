// Results of earlier runs, by mutant.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export class Kept {
  #file;
  #results;

  constructor(file, { fresh }) {
    this.#file = file;
    this.#results = fresh || !existsSync(file) ? {} : JSON.parse(readFileSync(file, "utf8"));
  }

  get(key) {
    return this.#results[key];
  }

  set(key, result) {
    this.#results[key] = result;
  }

  forget(key) {
    delete this.#results[key];
  }

  save() {
    mkdirSync(dirname(this.#file), { recursive: true });
    writeFileSync(this.#file, JSON.stringify(this.#results));
  }
}
