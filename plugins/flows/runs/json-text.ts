/**
 * The JSON of a value for a column: PostgreSQL stores neither the character NUL nor half of a surrogate pair, and a client must not
 * prevent by them that a run is recorded.
 */
export const toStoredJson = (value: unknown): string =>
  (JSON.stringify(value) ?? 'null').replace(/\\(?:u(?:0000|d[89a-f][0-9a-f]{2})|.)/gi, (sequence) =>
    sequence.length > 2 ? '\ufffd' : sequence,
  );
