import type { DynamicValue, Operand } from './tree.ts';

/** `$CURRENT_USER` or `$CURRENT_ROLE`, by itself or with a path behind it. */
export type CallerValue = Extract<DynamicValue, { dynamic: 'user' | 'role' }>;

export const isCallerValue = (value: Operand): value is CallerValue =>
  typeof value === 'object' && value !== null && (value.dynamic === 'user' || value.dynamic === 'role');
