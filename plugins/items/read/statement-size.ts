import type { PreparedStatement } from '../../query/contract.ts';

/** Bytes of an entry of a list, a number or a timestamp. */
const BYTES_OF_SMALL_VALUE = 8;

/**
 * Approximate memory of a statement, in bytes: its text and its values. The cached query text does not contain the
 * values of a document, and one of those may be a megabyte.
 */
export const estimateStatementBytes = ({ text, params }: Pick<PreparedStatement, 'text' | 'params'>): number =>
  2 * text.length + params.reduce<number>((sum, one) => sum + estimateValueBytes(one), 0);

const estimateValueBytes = (value: unknown): number => {
  if (typeof value === 'string') return 2 * value.length;
  return Array.isArray(value)
    ? value.reduce<number>((sum, one) => sum + BYTES_OF_SMALL_VALUE + estimateValueBytes(one), 0)
    : BYTES_OF_SMALL_VALUE;
};
