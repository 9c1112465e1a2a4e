export { isOn } from './authority.ts';
export { keeps } from './validation/breaches.ts';
