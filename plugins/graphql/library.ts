export { nameOf } from './fields/distinct.ts';
