import { getArgumentValues } from 'graphql';
import type { ReadText, Stream } from '../../query/contract.ts';
import { groupSelectionOf } from '../plan/groups.ts';
import { opened } from '../plan/operands.ts';
import { payloadOf } from '../plan/payload.ts';
import type { Root } from '../plan/roots.ts';
import { selectionOf } from '../plan/selection.ts';
import type { RootBinding } from '../schema/binding.ts';
import { type ExecuteDeps, type Run, translating } from './run.ts';

export type ReadBinding = Extract<RootBinding, { readonly kind: 'list' | 'singleton' | 'by id' | 'aggregated' }>;

/** A read of rows or groups: one statement, which is not even translated where it is remembered. */
export function read(
  deps: ExecuteDeps,
  run: Run,
  root: Root,
  { kind, collection }: ReadBinding,
  inParts?: 'long',
): Promise<ReadText | Stream> {
  const { field, nodes } = root;
  const translate = kind === 'aggregated' ? groupSelectionOf : selectionOf;
  const { text, given } = root.open(run.coerced);
  return deps.items.select(run.call.caller, collection, {
    selection: (isOpen) =>
      translate(translating(deps, isOpen ? { ...run, coerced: opened(run.coerced, given) } : run), field, nodes),
    text,
    given,
    ...(kind === 'by id' ? { key: keyOf(root, run) } : {}),
    ...(inParts ? { inParts } : {}),
  });
}

/** The argument `id`, in the form of REST. */
const keyOf = ({ field, nodes }: Root, { coerced }: Run): unknown =>
  payloadOf(field.args.find(({ name }) => name === 'id')?.type, getArgumentValues(field, nodes[0], coerced).id);

/** What was not asked for in parts is not answered in parts. */
export const textOf = (answer: ReadText | Stream): string => (answer as ReadText).data ?? 'null';
