export { parseGraphqlFieldName } from './fields/distinct-fields.ts';
