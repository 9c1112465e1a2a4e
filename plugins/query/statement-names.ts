import { createHash } from 'node:crypto';

/** Statements that a process keeps prepared: each costs memory on every connection and is never dropped. */
const MAX_NAMED = 1000;
/** Longer statements cost more memory on every connection than preparing them saves. */
const MAX_NAMED_TEXT = 4000;

/** The names of prepared statements, by their SQL text: one statement runs with many values. */
export interface StatementNames {
  /** The name of a statement; undefined for a statement that has none. */
  get(text: string): string | undefined;
  /** Assigns a name on first use; undefined above the limit of names, or for a text that is too long. */
  assign(text: string): string | undefined;
}

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
