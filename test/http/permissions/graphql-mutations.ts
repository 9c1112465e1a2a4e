import { type Entry, type Root, Variable } from '../../plugins/graphql/cases/entries.ts';
import { tableOf } from './model.ts';
import type { Write } from './writing.ts';

/** The root field of a write. `aside`: its values stand beside the document. */
export function mutationOf(collection: string, write: Write, of: readonly Entry[] | undefined, aside: boolean): Root {
  const below = of ? { of } : {};
  const value = (type: string, data: unknown) => (aside ? new Variable(type, data) : data);
  const input = (kind: 'create' | 'update') => `${kind}_${tableOf(collection)}_input!`;
  switch (write.verb) {
    case 'create': {
      const [first] = write.rows;
      return write.rows.length === 1
        ? { field: `create_${collection}_item`, args: { data: value(input('create'), first) }, ...below }
        : { field: `create_${collection}_items`, args: { data: value(`[${input('create')}]!`, write.rows) }, ...below };
    }
    case 'update': {
      const data = value(input('update'), write.data);
      return write.keys.length === 1
        ? { field: `update_${collection}_item`, args: { id: value('ID!', write.keys[0]), data }, ...below }
        : { field: `update_${collection}_items`, args: { ids: value('[ID]!', write.keys), data }, ...below };
    }
    case 'update each':
      return {
        field: `update_${collection}_batch`,
        args: { data: value(`[${input('update')}]!`, write.rows) },
        ...below,
      };
    case 'delete': {
      const key = (name: string): Entry => ({ kind: 'column', key: name, field: name, from: [name] });
      return write.keys.length === 1
        ? { field: `delete_${collection}_item`, args: { id: write.keys[0] }, of: [key('id')] }
        : { field: `delete_${collection}_items`, args: { ids: write.keys }, of: [key('ids')] };
    }
    default:
      throw new Error(`${write.verb} has no mutation`);
  }
}
