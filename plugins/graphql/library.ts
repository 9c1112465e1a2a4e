export { graphqlFieldNameOf } from './fields/distinct-fields.ts';
