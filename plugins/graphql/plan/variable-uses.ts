import { type ASTNode, type FragmentDefinitionNode, type OperationDefinitionNode, visit } from 'graphql';

/** How often an operation uses each variable, with fragments expanded. Only for documents without fragment cycles. */
export function countVariableUses(
  operation: OperationDefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): ReadonlyMap<string, number> {
  const fragmentUses = new Map<string, ReadonlyMap<string, number>>();
  const count = (node: ASTNode): ReadonlyMap<string, number> => {
    const uses = new Map<string, number>();
    const add = (times: number, name: string) => uses.set(name, (uses.get(name) ?? 0) + times);
    visit(node, {
      VariableDefinition: () => false,
      Variable: (variable) => void add(1, variable.name.value),
      FragmentSpread({ name: { value: name } }) {
        const fragment = fragments.get(name);
        if (!fragment) return;
        const inner = fragmentUses.get(name) ?? count(fragment);
        fragmentUses.set(name, inner);
        inner.forEach(add);
      },
    });
    return uses;
  };
  return count(operation);
}
