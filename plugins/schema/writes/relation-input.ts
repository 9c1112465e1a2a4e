import { invalid, member, type Payload } from './payload.ts';

const RULES: readonly string[] = ['NO ACTION', 'SET NULL', 'CASCADE', 'RESTRICT', 'SET DEFAULT'];

/** `on_delete` or `on_update`, as it may be written into a statement. */
export function ruleOf(schema: Payload | null | undefined, key: 'on_delete' | 'on_update'): string | undefined {
  const value = schema ? member(schema, key) : undefined;
  if (value === undefined || value === null) return undefined;
  const rule = String(value).toUpperCase();
  if (!RULES.includes(rule)) throw invalid(`"${key}" must be one of ${RULES.join(', ')}.`);
  return rule;
}

export function textOf(payload: Payload, key: string): string {
  const value = member(payload, key);
  if (typeof value !== 'string' || value === '') throw invalid(`"${key}" is required.`);
  return value;
}
