export { keeps } from './validation/breaches.ts';
