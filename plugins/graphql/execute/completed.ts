import { type DocumentNode, type ExecutionResult, execute, Kind } from 'graphql';
import type { Root } from '../plan/roots.ts';
import type { Outcome } from './outcome.ts';
import type { Run } from './run.ts';

/** Documents of single root fields, by the field as an operation asks for it. */
const documents = new WeakMap<Root, DocumentNode>();

/**
 * A root field that is no read of ours, answered by GraphQL itself: introspection, and plain data that others gave, of which
 * it shows what is asked.
 */
export async function completed(run: Run, root: Root, value?: unknown): Promise<Outcome> {
  const document = documents.get(root) ?? documentOf(run, root);
  documents.set(root, document);
  // GraphQL goes through all of it at once: with many such fields others have their turn in between.
  await new Promise((resume) => setImmediate(resume));
  const { data, errors = [] }: ExecutionResult = await execute({
    schema: run.built.schema,
    document,
    rootValue: { [root.field.name]: () => value },
    variableValues: run.variables,
  });
  const failed = data === null || data === undefined || (errors.length > 0 && data[root.key] === null);
  return { text: failed ? null : JSON.stringify(data[root.key] ?? null), errors };
}

const documentOf = ({ node, document }: Run, { nodes }: Root): DocumentNode => ({
  kind: Kind.DOCUMENT,
  definitions: [
    { ...node, selectionSet: { kind: Kind.SELECTION_SET, selections: nodes } },
    ...document.fragments.values(),
  ],
});
