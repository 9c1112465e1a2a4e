export { fieldNameOf } from './fields/distinct-fields.ts';
