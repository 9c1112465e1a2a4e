/** Numbers of JSON that could lose something on the way through a number of this language. */
const INEXACT_NUMBER = /\d{16}|\d[eE]/;

interface RawJson {
  readonly rawJSON: string;
}

// TypeScript does not know them yet.
const exactJson = JSON as unknown as {
  rawJSON(text: string): RawJson;
  parse(text: string, revive: (key: string, value: unknown, context: { source: string }) => unknown): unknown;
};

/** Parses a row; numbers that would change are kept as they were written (`JSON.rawJSON`), or made by `keep`. */
export const parseExact = (text: string, keep: (source: string) => unknown = exactJson.rawJSON): unknown =>
  INEXACT_NUMBER.test(text)
    ? exactJson.parse(text, (_key, value, { source }) =>
        typeof value === 'number' && String(value) !== source ? keep(source) : value,
      )
    : JSON.parse(text);

/** A number that is written out, with all its digits; null for what is none. */
export const toExactNumber = (text: string): unknown => (/^-?\d+(\.\d+)?$/.test(text) ? exactJson.rawJSON(text) : null);

/** The text of a number that was kept, undefined for everything else. */
export const exactNumberText = (value: unknown): string | undefined =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === null
    ? (value as RawJson).rawJSON
    : undefined;
