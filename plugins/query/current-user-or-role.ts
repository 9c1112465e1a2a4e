import type { DynamicValue, FilterOperand } from './tree.ts';

/** The dynamic value `$CURRENT_USER` or `$CURRENT_ROLE`, alone or with a path to a field: `$CURRENT_USER.team.name`. */
export type CurrentUserOrRoleValue = Extract<DynamicValue, { dynamic: 'user' | 'role' }>;

export const isCallerDynamicValue = (value: FilterOperand): value is CurrentUserOrRoleValue =>
  typeof value === 'object' && value !== null && (value.dynamic === 'user' || value.dynamic === 'role');
