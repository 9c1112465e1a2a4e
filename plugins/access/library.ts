export { mergePermissionFields } from './effective-permissions.ts';
export { isSubmittedTrue } from './privilege-escalation-guard.ts';
export { matchRegularExpressionWithTimeout, parseRegularExpression } from './validation/pattern.ts';
export { matchesFilter } from './validation/validate-row.ts';
