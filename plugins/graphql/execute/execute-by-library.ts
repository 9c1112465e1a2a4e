import { type DocumentNode, type ExecutionResult, execute, Kind } from 'graphql';
import type { RootField } from '../plan/root-fields.ts';
import type { OperationRun } from './operation-run.ts';
import type { RootResult } from './root-result.ts';

/** Documents of single root fields, by the field as an operation asks for it. */
const singleFieldDocuments = new WeakMap<RootField, DocumentNode>();

/**
 * A root field that is no read of ours, answered by GraphQL itself: introspection, and plain data that others gave, of which
 * it shows what is asked.
 */
export async function executeByLibrary(run: OperationRun, root: RootField, value?: unknown): Promise<RootResult> {
  const document = singleFieldDocuments.get(root) ?? createDocument(run, root);
  singleFieldDocuments.set(root, document);
  // GraphQL goes through all of it at once: with many such fields others have their turn in between.
  await new Promise((resume) => setImmediate(resume));
  const { data, errors = [] }: ExecutionResult = await execute({
    schema: run.callerSchema.schema,
    document,
    rootValue: { [root.field.name]: () => value },
    variableValues: run.variables,
  });
  const failed = data === null || data === undefined || (errors.length > 0 && data[root.key] === null);
  return { text: failed ? null : JSON.stringify(data[root.key] ?? null), errors };
}

const createDocument = ({ node, document }: OperationRun, { nodes }: RootField): DocumentNode => ({
  kind: Kind.DOCUMENT,
  definitions: [
    { ...node, selectionSet: { kind: Kind.SELECTION_SET, selections: nodes } },
    ...document.fragments.values(),
  ],
});
