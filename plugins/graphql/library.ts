export { parseGraphqlFieldName } from './fields/unique-contributed-fields.ts';
