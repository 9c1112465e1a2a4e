export { mergePermissionFields } from './effective-permissions.ts';
export { isSubmittedTrue } from './privilege-escalation-guard.ts';
export { throwValidationErrors } from './validation/failures.ts';
export { matchRegularExpressionWithTimeout, parseRegularExpression } from './validation/pattern.ts';
export { matchesFilter, type ValidationError, validateRow } from './validation/validate-row.ts';
