import { type ASTNode, type FragmentDefinitionNode, Kind, type SelectionSetNode, visit } from 'graphql';

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** The names of all variables in nodes of a document and in the fragments they spread, whether these apply or not. */
export function variablesIn(nodes: readonly ASTNode[], fragments: Fragments): readonly string[] {
  const names = new Set<string>();
  const followed = new Set<string>();
  const look = (node: ASTNode): void =>
    void visit(node, {
      Variable: (variable) => void names.add(variable.name.value),
      FragmentSpread({ name: { value: name } }) {
        if (followed.has(name)) return;
        followed.add(name);
        const fragment = fragments.get(name);
        if (fragment) look(fragment);
      },
    });
  nodes.forEach(look);
  return [...names].sort();
}

/** The variables that decide which fields a selection set has at all, by `@skip` and `@include`. */
export function conditionsIn(set: SelectionSetNode, fragments: Fragments): readonly string[] {
  const conditions: ASTNode[] = [];
  const followed = new Set<string>();
  const look = ({ selections }: SelectionSetNode): void => {
    for (const one of selections) {
      conditions.push(...(one.directives ?? []));
      if (one.kind === Kind.INLINE_FRAGMENT) look(one.selectionSet);
      if (one.kind !== Kind.FRAGMENT_SPREAD || followed.has(one.name.value)) continue;
      followed.add(one.name.value);
      const fragment = fragments.get(one.name.value);
      if (fragment) look(fragment.selectionSet);
    }
  };
  look(set);
  return variablesIn(conditions, fragments);
}
