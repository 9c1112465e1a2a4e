import type { Prepared } from '../../query/contract.ts';

/** An entry of a list, a number or a moment. */
const SMALL = 8;

/**
 * Bytes that a statement takes in memory, about: its text and its values. The text that stands for a document does not have
 * the document's values in it, and one of those may be a megabyte.
 */
export const weightOf = ({ text, params }: Pick<Prepared, 'text' | 'params'>): number =>
  2 * text.length + params.reduce<number>((sum, one) => sum + weightOfValue(one), 0);

const weightOfValue = (value: unknown): number => {
  if (typeof value === 'string') return 2 * value.length;
  return Array.isArray(value) ? value.reduce<number>((sum, one) => sum + SMALL + weightOfValue(one), 0) : SMALL;
};
