import type { ConditionTree, FieldFunction, FilterOperand, Projection, ReadNode } from '../../query/contract.ts';

/** Every collection that a read uses: in its fields, conditions, counts and sort order. */
export function collectReadCollections(read: ReadNode): ReadonlySet<string> {
  const collections = new Set<string>();

  function visitRead({ collection, where, order, projections: pick }: ReadNode): void {
    collections.add(collection.name);
    visitCondition(where);
    for (const { path, use } of order) {
      for (const step of path) collections.add(step.to.name);
      visitField(use);
    }
    for (const one of pick) visitPick(one);
  }

  function visitPick(pick: Projection): void {
    switch (pick.kind) {
      case 'constant':
        return;
      case 'object':
        pick.projections.forEach(visitPick);
        return;
      case 'column':
        visitField(pick);
        return;
      case 'any':
        pick.reads.forEach(visitRead);
        return;
      default:
        visitRead(pick.read);
    }
  }

  function visitCondition(where: ConditionTree): void {
    switch (where.kind) {
      case 'and':
      case 'or':
        where.of.forEach(visitCondition);
        return;
      case 'test':
      case 'inside':
        visitField(where.use);
        where.values.forEach(visitValue);
        return;
      case 'one':
      case 'many':
      case 'any':
        collections.add(where.to.name);
        visitCondition(where.where);
        return;
      case 'fixed':
        return;
    }
  }

  function visitField({ fn }: { readonly fn?: FieldFunction }): void {
    if (fn?.name === 'count' && fn.to) collections.add(fn.to.name);
  }

  function visitValue(one: FilterOperand): void {
    if (typeof one !== 'object' || one === null || !('path' in one) || !one.path) return;
    collections.add(one.path.start.name);
    for (const { to } of one.path.steps) if (to) collections.add(to.name);
  }

  visitRead(read);
  return collections;
}
