/** JSON numbers that could lose digits as JavaScript numbers. */
const INEXACT_NUMBER = /\d{16}|\d[eE]/;

interface RawJson {
  readonly rawJSON: string;
}

// TypeScript has no types for `JSON.rawJSON` and the third argument of a reviver yet.
const exactJson = JSON as unknown as {
  rawJSON(text: string): RawJson;
  parse(text: string, revive: (key: string, value: unknown, context: { source: string }) => unknown): unknown;
};

/** Parses a row. Numbers that would lose digits are kept as their text (`JSON.rawJSON`), or converted by `keep`. */
export const parseExactJson = (text: string, keep: (source: string) => unknown = exactJson.rawJSON): unknown =>
  INEXACT_NUMBER.test(text)
    ? exactJson.parse(text, (_key, value, { source }) =>
        typeof value === 'number' && String(value) !== source ? keep(source) : value,
      )
    : JSON.parse(text);

/** The number of a decimal text, with all its digits; null for another text. */
export const decimalTextToRawJson = (text: string): unknown =>
  /^-?\d+(\.\d+)?$/.test(text) ? exactJson.rawJSON(text) : null;

/** The text of a number kept by `parseExactJson`; undefined for everything else. */
export const exactNumberText = (value: unknown): string | undefined =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === null
    ? (value as RawJson).rawJSON
    : undefined;
