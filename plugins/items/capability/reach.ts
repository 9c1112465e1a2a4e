import type { Fn, Pick, Read, Value, Where } from '../../query/contract.ts';

/** Every collection that a read tells of, in whatever part of it: what it shows, compares, counts and sorts by. */
export function reachOf(read: Read): ReadonlySet<string> {
  const found = new Set<string>();

  function node({ collection, where, order, pick }: Read): void {
    found.add(collection.name);
    condition(where);
    for (const { path, use } of order) {
      for (const step of path) found.add(step.to.name);
      field(use);
    }
    for (const one of pick) shown(one);
  }

  function shown(pick: Pick): void {
    switch (pick.kind) {
      case 'constant':
        return;
      case 'object':
        pick.pick.forEach(shown);
        return;
      case 'column':
        field(pick);
        return;
      case 'any':
        pick.reads.forEach(node);
        return;
      default:
        node(pick.read);
    }
  }

  function condition(where: Where): void {
    switch (where.kind) {
      case 'all':
      case 'either':
        where.of.forEach(condition);
        return;
      case 'test':
      case 'inside':
        field(where.use);
        where.values.forEach(value);
        return;
      case 'one':
      case 'many':
      case 'any':
        found.add(where.to.name);
        condition(where.where);
        return;
      case 'fixed':
        return;
    }
  }

  function field({ fn }: { readonly fn?: Fn }): void {
    if (fn?.name === 'count' && fn.to) found.add(fn.to.name);
  }

  function value(one: Value): void {
    if (typeof one !== 'object' || one === null || !('via' in one) || !one.via) return;
    found.add(one.via.start.name);
    for (const { to } of one.via.path) if (to) found.add(to.name);
  }

  node(read);
  return found;
}
