import type { DynamicValue, FilterOperand } from './tree.ts';

/** `$CURRENT_USER` or `$CURRENT_ROLE`, by itself or with a path behind it. */
export type CallerValue = Extract<DynamicValue, { dynamic: 'user' | 'role' }>;

export const isCallerValue = (value: FilterOperand): value is CallerValue =>
  typeof value === 'object' && value !== null && (value.dynamic === 'user' || value.dynamic === 'role');
