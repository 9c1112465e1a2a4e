import { fail } from '#kernel';
import { throwValidationErrors, type ValidationError, validateRow } from '../../access/library.ts';
import type { FlowOperationKind } from '../contract.ts';
import { parseJsonOption } from './option-values.ts';

type Rule = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Rule =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a rule compares a text with numbers: texts of the data are not converted, so it never holds. */
const isTextComparedWithNumber = (operator: string, operand: unknown, value: unknown): boolean =>
  typeof value === 'string' &&
  ((operator === '_eq' && typeof operand === 'number') ||
    (operator === '_in' && Array.isArray(operand) && operand.every((one) => typeof one === 'number')));

/** What of the rule cannot hold for the data of the run: a condition on a missing value, and one on a value of another type. */
function missingPaths(rule: unknown, value: unknown, at: readonly string[]): readonly ValidationError[] {
  if (!isObject(rule)) return [];
  return Object.entries(rule).flatMap(([key, part]): readonly ValidationError[] => {
    if (key === '_and') return Array.isArray(part) ? part.flatMap((one) => missingPaths(one, value, at)) : [];
    if (isTextComparedWithNumber(key, part, value)) return [{ path: at, type: key.slice(1), valid: part }];
    // Another branch may hold.
    if (key === '_or' || key.startsWith('_')) return [];
    const path = [...at, key];
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return [{ path, type: 'required' }];
    return missingPaths(part, (value as Rule)[key], path);
  });
}

/** Removes the branches of `_or` whose values are missing, at any depth of logic. */
function withoutMissingBranches(rule: unknown, data: unknown): unknown {
  if (!isObject(rule)) return rule;
  return Object.fromEntries(
    Object.entries(rule).map(([key, part]) => {
      if (key === '_or' && Array.isArray(part))
        return [
          key,
          part
            .filter((one) => missingPaths(one, data, []).length === 0)
            .map((one) => withoutMissingBranches(one, data)),
        ];
      if (key === '_and' && Array.isArray(part)) return [key, part.map((one) => withoutMissingBranches(one, data))];
      return [key, part];
    }),
  );
}

/** `condition`: resolves with null where its filter holds for the data of the run, and rejects with the violated rules. */
export const conditionOperation: FlowOperationKind = {
  id: 'condition',
  trial: 'run',
  async run(options, { data }) {
    const filter = parseJsonOption(options.filter, 'filter');
    if (filter === undefined || filter === null) return null;
    if (!isObject(filter)) throw fail('INVALID_PAYLOAD', '"filter" must be an object');
    const missing = missingPaths(filter, data, []);
    throwValidationErrors([...missing, ...validateRow(withoutMissingBranches(filter, data), data)]);
    // A failed condition is always a list of errors.
    return null;
  },
};
