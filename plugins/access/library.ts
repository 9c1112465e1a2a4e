export { isOn } from './authority.ts';
export { mergedGrant } from './effective-permissions.ts';
export { parsePattern, testPattern } from './validation/pattern.ts';
export { keeps } from './validation/validate-row.ts';
