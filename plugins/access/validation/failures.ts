import { type Failure, Failures, fail } from '#kernel';
import type { Breach } from './breaches.ts';

/** Throws when there is anything to complain about: one failure per broken rule, each said once. */
export function refuse(found: readonly (Breach & { readonly message?: string | null })[]): void {
  const distinct = new Map<string, Failure>();
  for (const breach of found) {
    const failure = failureOf(breach);
    const key = JSON.stringify(failure.extensions);
    if (!distinct.has(key)) distinct.set(key, failure);
  }
  if (distinct.size > 0) throw new Failures([...distinct.values()]);
}

function failureOf({
  path: [field = '', ...path],
  type,
  message,
  ...rest
}: Breach & { message?: string | null }): Failure {
  return fail('FAILED_VALIDATION', message || `Validation failed for field "${field}": ${sentence(type, rest)}.`, {
    field,
    path,
    type,
    ...rest,
  });
}

const shown = (value: unknown) => JSON.stringify(value) ?? '';

function sentence(type: string, { valid, invalid, substring }: Partial<Breach>): string {
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
      if (substring !== undefined) return `the rule is ${type} ${shown(substring)}`;
      if (invalid !== undefined) return `the rule is ${type} ${shown(invalid)}`;
      return valid === undefined ? `the rule is ${type}` : `the rule is ${type} ${shown(valid)}`;
  }
}
