export { isOn } from './authority.ts';
export { mergedGrant } from './effective.ts';
export { keeps } from './validation/breaches.ts';
export { parsePattern, testPattern } from './validation/pattern.ts';
