// The text of a composite key (ADR 44): the texts of its parts, joined by commas. In a part `~` is escaped as `~0` and a comma as
// `~1`. Neither is special in a URL, so the text is the same in paths and in JSON.

/** @param parts the texts of the columns' values, in the order of the key */
export const joinCompositeKey = (parts: readonly string[]): string =>
  parts.map((part) => part.replaceAll('~', '~0').replaceAll(',', '~1')).join();

/** The inverse of `joinCompositeKey`. */
export const splitCompositeKey = (text: string): readonly string[] =>
  text.split(',').map((part) => part.replaceAll('~1', ',').replaceAll('~0', '~'));
