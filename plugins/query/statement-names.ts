import { createHash } from 'node:crypto';

/** Statements kept prepared in all of a process' life: each costs memory on every connection and is never dropped. */
const MAX_NAMED = 1000;
/** Longer statements cost more memory on every connection than preparing them saves. */
const MAX_NAMED_TEXT = 4000;

/** The names under which statements are prepared. */
export interface StatementNames {
  /** Undefined for one that is not prepared. */
  get(text: string): string | undefined;
  /** The same for one that is worth it; undefined where there are too many already, or it is too long. */
  assign(text: string): string | undefined;
}

/** By their texts: one statement comes with many values. */
export function createStatementNames(): StatementNames {
  const names = new Map<string, string>();
  return {
    get: (text) => names.get(text),
    assign(text) {
      const known = names.get(text);
      if (known !== undefined || names.size >= MAX_NAMED || text.length > MAX_NAMED_TEXT) return known;
      const name = `q${createHash('sha1').update(text).digest('base64url')}`;
      names.set(text, name);
      return name;
    },
  };
}
