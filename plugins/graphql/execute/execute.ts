import { OperationTypeNode } from 'graphql';
import { beyond } from '../document/limits.ts';
import { type Root, rootsOf } from '../plan/roots.ts';
import type { Answer, Execute } from './answer.ts';
import { checkOnce, contributed } from './contributed.ts';
import { introspected } from './introspection.ts';
import type { Outcome } from './outcome.ts';
import { partsOf } from './parts.ts';
import { type ReadBinding, read, textOf } from './reads.ts';
import { checkRepeated } from './repeated.ts';
import { coerced, counter, type ExecuteDeps, type Run } from './run.ts';
import { failed, type Settled, settled, spliced } from './settled.ts';
import { placed, together, whole } from './together.ts';
import { write } from './writes.ts';

/** Runs operations: reads are statements of the engine, whose texts are put side by side untouched. */
export function createExecute(deps: ExecuteDeps): Execute {
  return async (built, operation, call) => {
    const { document, node } = operation;
    if (node.operation === OperationTypeNode.SUBSCRIPTION) throw beyond('There are no subscriptions here.');
    const run: Run = { ...operation, built, call, coerced: coerced(deps, built, operation) };
    checkRepeated(run);
    const spend = counter(deps.ceilings.nodes, () =>
      beyond(`The document asks for more at its root than the ${deps.ceilings.nodes} parts allowed (QUERY_MAX_NODES).`),
    );
    const roots = rootsOf(built, document, node, { variables: run.coerced, spend });
    checkOnce(roots);
    const [only] = roots;
    if (roots.length === 1 && only?.binding?.kind === 'list') return alone(deps, run, only, only.binding);
    return spliced(
      node.operation === OperationTypeNode.MUTATION ? await inTurn(deps, run, roots) : await reads(deps, run, roots),
    );
  };
}

/** A list by itself may come in parts. */
async function alone(deps: ExecuteDeps, run: Run, root: Root, binding: ReadBinding): Promise<Answer> {
  try {
    const answer = await read(deps, run, root, binding, 'long');
    if ('batches' in answer) return { kind: 'parts', parts: partsOf(root.key, answer) };
    return spliced([{ key: root.key, text: textOf(answer), errors: [], isFatal: false }]);
  } catch (error) {
    return spliced([failed(deps, run, root, error)]);
  }
}

const reads = (deps: ExecuteDeps, run: Run, roots: readonly Root[]): Promise<readonly Settled[]> =>
  together(roots, (root, room) =>
    settled(deps, run, root, async () => {
      const { binding } = root;
      if (binding?.kind === 'list') return { text: await whole(await read(deps, run, root, binding, 'long'), room) };
      const one = await outcome(deps, run, root);
      // What the schema says of itself is bounded by what documents may ask of it.
      return one.text === null || !binding ? one : { ...one, text: placed(one.text, room) };
    }),
  );

/** One write after the other, as the specification of GraphQL has it, up to one whose failure fails the whole. */
async function inTurn(deps: ExecuteDeps, run: Run, roots: readonly Root[]): Promise<readonly Settled[]> {
  const done: Settled[] = [];
  for (const root of roots) {
    const one = await settled(deps, run, root, () => outcome(deps, run, root));
    done.push(one);
    if (one.isFatal) break;
  }
  return done;
}

async function outcome(deps: ExecuteDeps, run: Run, root: Root): Promise<Outcome> {
  const { binding, field } = root;
  if (!binding) return field.name === '__typename' ? { text: JSON.stringify(typeOf(run)) } : introspected(run, root);
  switch (binding.kind) {
    case 'nothing':
      return { text: 'null' };
    case 'contributed':
      return contributed(deps, run, root, binding.field);
    case 'list':
    case 'singleton':
    case 'by id':
    case 'aggregated':
      return { text: textOf(await read(deps, run, root, binding)) };
    default:
      return { text: await write(deps, run, root, binding) };
  }
}

const typeOf = ({ built, node }: Run): string | undefined => built.schema.getRootType(node.operation)?.name;
