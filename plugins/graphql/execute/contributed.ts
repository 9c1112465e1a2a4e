import { getArgumentValues, OperationTypeNode } from 'graphql';
import type { Key } from '../../items/contract.ts';
import type { GraphqlField } from '../contract.ts';
import { beyond } from '../document/limits.ts';
import type { Root } from '../plan/roots.ts';
import { selectionOf } from '../plan/selection.ts';
import { completed } from './completed.ts';
import type { Outcome } from './outcome.ts';
import { plain } from './plain.ts';
import { checkedSelection, rowBack } from './read-back.ts';
import { textOf } from './reads.ts';
import { type ExecuteDeps, type Run, translating } from './run.ts';

/** A field that another plugin answers: by a value, or by the key of a row that is read as any other. */
export async function contributed(deps: ExecuteDeps, run: Run, root: Root, field: GraphqlField): Promise<Outcome> {
  const args = plain(getArgumentValues(root.field, root.nodes[0], run.coerced)) as Record<string, unknown>;
  const { row } = field;
  if (row === undefined) return completed(run, root, await field.resolve(args, run.call));
  const isWrite = run.node.operation === OperationTypeNode.MUTATION;
  const selection = isWrite ? await checkedSelection(deps, run, root) : undefined;
  const key = (await field.resolve(args, run.call)) as Key | null | undefined;
  if (key === null || key === undefined) return { text: 'null' };
  if (selection) return { text: await rowBack(deps, run, row, root, selection, key) };
  const answer = await deps.items.select(run.call.caller, row, {
    selection: () => selectionOf(translating(deps, run), root.field, root.nodes),
    text: root.text(run.coerced),
    key,
  });
  return { text: textOf(answer) };
}

/** Secrets are tried one a request. Throws a DocumentFailure where more of them are asked for. */
export function checkOnce(roots: readonly Root[]): void {
  const [, second] = roots.filter(({ binding }) => binding?.kind === 'contributed' && binding.field.once);
  if (second)
    throw beyond(
      `${second.field.name}: a request may have one field of this kind, and this is the second.`,
      second.nodes[0],
    );
}
