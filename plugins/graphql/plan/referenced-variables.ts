import { type ASTNode, type FragmentDefinitionNode, Kind, type SelectionSetNode, visit } from 'graphql';

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** The sorted names of all variables in nodes and in the fragments they spread, for any type condition. */
export function findVariables(nodes: readonly ASTNode[], fragments: Fragments): readonly string[] {
  const names = new Set<string>();
  const visitedFragments = new Set<string>();
  const visitNode = (node: ASTNode): void =>
    void visit(node, {
      Variable: (variable) => void names.add(variable.name.value),
      FragmentSpread({ name: { value: name } }) {
        if (visitedFragments.has(name)) return;
        visitedFragments.add(name);
        const fragment = fragments.get(name);
        if (fragment) visitNode(fragment);
      },
    });
  nodes.forEach(visitNode);
  return [...names].sort();
}

/** The variables of `@skip` and `@include` directly in a selection set and its fragments. */
export function findSkipIncludeVariables(set: SelectionSetNode, fragments: Fragments): readonly string[] {
  const conditions: ASTNode[] = [];
  const visitedFragments = new Set<string>();
  const visitSelections = ({ selections }: SelectionSetNode): void => {
    for (const one of selections) {
      conditions.push(...(one.directives ?? []));
      if (one.kind === Kind.INLINE_FRAGMENT) visitSelections(one.selectionSet);
      if (one.kind !== Kind.FRAGMENT_SPREAD || visitedFragments.has(one.name.value)) continue;
      visitedFragments.add(one.name.value);
      const fragment = fragments.get(one.name.value);
      if (fragment) visitSelections(fragment.selectionSet);
    }
  };
  visitSelections(set);
  return findVariables(conditions, fragments);
}
