import { type Failure, Failures, fail } from '#kernel';
import type { ValidationError } from './validate-row.ts';

/** @throws Failures of FAILED_VALIDATION, one per distinct error; returns when there are no errors */
export function throwValidationErrors(
  errors: readonly (ValidationError & { readonly message?: string | null })[],
): void {
  const distinct = new Map<string, Failure>();
  for (const error of errors) {
    const failure = toFailure(error);
    const key = JSON.stringify(failure.extensions);
    if (!distinct.has(key)) distinct.set(key, failure);
  }
  if (distinct.size > 0) throw new Failures([...distinct.values()]);
}

function toFailure({
  path: [field = '', ...path],
  type,
  message,
  ...rest
}: ValidationError & { message?: string | null }): Failure {
  return fail('FAILED_VALIDATION', message || `Validation failed for field "${field}": ${describeRule(type, rest)}.`, {
    field,
    path,
    type,
    ...rest,
  });
}

const quoteValue = (value: unknown) => JSON.stringify(value) ?? '';

function describeRule(type: string, { valid, invalid, substring }: Partial<ValidationError>): string {
  switch (type) {
    case 'required':
      return 'a value is required';
    case 'nnull':
      return 'it cannot be null';
    case 'null':
      return 'it must be null';
    case 'nempty':
      return 'it cannot be empty';
    case 'empty':
      return 'it must be empty';
    case 'regex':
      return 'the value has the wrong format';
    case 'email':
      return 'the value is not an e-mail address';
    default:
      if (substring !== undefined) return `the rule is ${type} ${quoteValue(substring)}`;
      if (invalid !== undefined) return `the rule is ${type} ${quoteValue(invalid)}`;
      return valid === undefined ? `the rule is ${type}` : `the rule is ${type} ${quoteValue(valid)}`;
  }
}
