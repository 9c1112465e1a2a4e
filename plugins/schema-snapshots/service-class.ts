import { type Caller, fail } from '#kernel';
import type { ServiceClass } from '../extensions-full/contract.ts';
import { isEmptyDiff, parseHashedDiff } from './diff/parse-diff.ts';
import type { SchemaState } from './schema-state.ts';
import { parseSnapshot } from './snapshot/parse-snapshot.ts';

/** `SchemaService` of code with full authority, for admins: what the routes of `/schema` answer. */
export const schemaServiceClass = (state: SchemaState): ServiceClass => ({
  name: 'SchemaService',
  methods: {
    async snapshot(caller) {
      assertAdmin(caller);
      return state.read(caller, []);
    },
    async diff(caller, [snapshot, options]) {
      assertAdmin(caller);
      const { force = false } = (options ?? {}) as { readonly force?: boolean };
      return (await state.diff(caller, parseSnapshot(snapshot, { force }), { mode: 'mirror' })) ?? null;
    },
    async apply(caller, [diff]) {
      assertAdmin(caller);
      const parsed = parseHashedDiff(diff);
      if (!isEmptyDiff(parsed)) await state.apply(caller, parsed, { force: false });
    },
  },
});

function assertAdmin({ admin }: Caller): void {
  if (!admin) throw fail('FORBIDDEN', 'snapshots of the schema are for admins only');
}
