import type { Access, Action, PermissionSet } from '../../access/contract.ts';
import type { Collection, Field, Verb } from '../../schema/contract.ts';
import type { Named, Names } from './names.ts';

/** A field and on which rows it counts. */
export interface Granted {
  readonly field: Field;
  readonly counts: 'always' | 'some';
}

/** What callers with one set of permissions have of an overview. */
export interface Model {
  readonly names: Names;
  readonly permissions: PermissionSet;
  /** Collections with a type of their own and what it shows. Not in it: what is not readable, or has nothing to show. */
  readonly readable: ReadonlyMap<string, readonly Granted[]>;
  /** May rows be written so at all? */
  may(verb: Exclude<Verb, 'read'>, collection: string): boolean;
  /** The fields that such a write may name. Empty where there is no such permission. */
  writable(verb: 'create' | 'update', collection: string): readonly Granted[];
}

export function modelOf(names: Names, permissions: PermissionSet, listed: Access['listed']): Model {
  const may = (verb: Verb, { collection }: Named): boolean =>
    (collection.verbs?.includes(verb) ?? true) &&
    (verb === 'read' || collection.kind === 'table') &&
    (permissions.admin || permissions.of(collection.name, verb).length > 0);

  const granted = (action: Action, { collection, fields }: Named): readonly Granted[] => {
    const counts = listed(permissions, action, collection);
    return fields.flatMap((field) => {
      const one = counts.get(field.name);
      return one ? [{ field, counts: one }] : [];
    });
  };

  const writes = new Map<string, readonly Granted[]>();
  return {
    names,
    permissions,
    readable: readableOf(names, may, granted),
    may(verb, name) {
      const named = names.collections.get(name);
      return named !== undefined && may(verb, named);
    },
    writable(verb, name) {
      const key = `${verb} ${name}`;
      const named = names.collections.get(name);
      const found = writes.get(key) ?? (named && may(verb, named) ? granted(verb, named).filter(isWritten) : []);
      writes.set(key, found);
      return found;
    },
  };
}

/** Not what the database makes itself. */
const isWritten = ({ field: { column } }: Granted): boolean => !column?.generated && !column?.identityAlways;

/** Lists of rows that are in no schema are not either, which may leave nothing of the collection that has the list. */
function readableOf(
  names: Names,
  may: (verb: Verb, named: Named) => boolean,
  granted: (action: Action, named: Named) => readonly Granted[],
): Model['readable'] {
  const found = new Map<string, readonly Granted[]>();
  for (const [name, named] of names.collections) if (may('read', named)) found.set(name, granted('read', named));
  const leads = ({ field }: Granted) => field.relation?.kind !== 'many' || found.has(field.relation.to);
  for (let changed = true; changed; ) {
    changed = false;
    for (const [name, fields] of found) {
      const left = fields.filter(leads);
      if (left.length === fields.length && left.length > 0) continue;
      changed = true;
      if (left.length > 0) found.set(name, left);
      else found.delete(name);
    }
  }
  return found;
}

/** The collections of a many-to-any that are in the schema; none where nothing says which one a row leads to. */
export function targetsOf(model: Model, collection: Collection, field: Field): readonly string[] {
  const { relation } = field;
  if (relation?.kind !== 'any' || !collection.fields.get(relation.by)?.column) return [];
  return relation.allowed.filter(
    (name) => model.readable.has(name) && model.names.collections.get(name)?.collection.hasKey,
  );
}
