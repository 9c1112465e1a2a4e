export { isSubmittedTrue } from './authority.ts';
export { mergePermissionFields } from './effective-permissions.ts';
export { parsePattern, testPattern } from './validation/pattern.ts';
export { matchesFilter } from './validation/validate-row.ts';
