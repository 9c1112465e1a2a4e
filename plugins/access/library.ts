export { isSubmittedTrue } from './authority.ts';
export { mergePermissionFields } from './effective-permissions.ts';
export { matchRegularExpressionWithTimeout, parseRegularExpression } from './validation/pattern.ts';
export { matchesFilter } from './validation/validate-row.ts';
