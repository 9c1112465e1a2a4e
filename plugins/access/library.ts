export { keeps } from './validation/breaches.ts';
export { parsePattern, testPattern } from './validation/pattern.ts';
