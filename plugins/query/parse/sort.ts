import { fail } from '#kernel';
import type { Collection } from '../../schema/contract.ts';
import type { FieldUse, Order } from '../contract.ts';
import { collectionNamed, knownField, type Scope, spend } from './scope.ts';
import { invalid, type Path, textList } from './shape.ts';

/** `sort=-date,author.name`; a name that is unknown or leads nowhere is FORBIDDEN, like one that may not be read. */
export function parseSort(scope: Scope, collection: Collection, raw: unknown, path: Path): readonly Order[] {
  return textList(raw, path).map((entry, index) => {
    const at = [...path, index];
    spend(scope, at, 0);
    const descending = entry.startsWith('-');
    const names = (descending ? entry.slice(1) : entry).split('.');
    if (names.some((name) => /[()]/.test(name))) throw invalid('functions are not supported yet', at);
    return { ...follow(scope, collection, names, at), descending };
  });
}

function follow(scope: Scope, collection: Collection, names: readonly string[], at: Path) {
  const path: { use: FieldUse; to: Collection }[] = [];
  let here = collection;
  for (const [depth, name] of names.entries()) {
    const field = knownField(scope, here, name);
    if (field.concealed) throw fail('FORBIDDEN', `${name} is concealed and cannot be sorted by`);
    if (depth === names.length - 1) {
      if (!field.column || ['json', 'unknown', 'binary'].includes(field.type))
        throw invalid(`cannot sort by ${name}`, at);
      return { path, use: { field } };
    }
    if (field.relation?.kind !== 'one' && field.relation?.kind !== 'many')
      throw invalid(`cannot sort through ${name}`, at);
    spend(scope, at, depth + 1);
    here = collectionNamed(scope, field.relation.to);
    path.push({ use: { field }, to: here });
  }
  throw invalid('is empty', at);
}

/** The default order, and the key as the last tie breaker, so that pages never overlap. */
export function withDefaults(collection: Collection, asked: readonly Order[], manual: string | null): readonly Order[] {
  const sortField = manual ?? collection.sortField;
  const names = asked.length > 0 ? [collection.primary] : [sortField, collection.primary];
  const implied = names
    .filter((name) => name !== null && !asked.some((one) => one.path.length === 0 && one.use.field.name === name))
    .map((name) => collection.fields.get(name as string))
    .filter((field) => field?.column)
    .map((field) => ({ path: [], use: { field }, descending: false, implied: true }) as Order);
  return [
    ...asked,
    ...implied.filter((one, at) => implied.findIndex((other) => other.use.field === one.use.field) === at),
  ];
}
