import { type DocumentNode, type ExecutionResult, execute, Kind } from 'graphql';
import type { SelectedRootField } from '../plan/root-fields.ts';
import type { GraphqlOperationRun } from './operation-run.ts';
import type { RootFieldResult } from './root-result.ts';

/** Documents with a single root field, by this field. */
const singleFieldDocuments = new WeakMap<SelectedRootField, DocumentNode>();

/**
 * Executes a root field by the graphql package: introspection, and values that contributed fields resolve, from which
 * it answers the selected members.
 */
export async function executeByGraphqlPackage(
  run: GraphqlOperationRun,
  root: SelectedRootField,
  value?: unknown,
): Promise<RootFieldResult> {
  const document = singleFieldDocuments.get(root) ?? createDocument(run, root);
  singleFieldDocuments.set(root, document);
  // The graphql package executes a field synchronously: other requests run before each field.
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

const createDocument = ({ node, document }: GraphqlOperationRun, { nodes }: SelectedRootField): DocumentNode => ({
  kind: Kind.DOCUMENT,
  definitions: [
    { ...node, selectionSet: { kind: Kind.SELECTION_SET, selections: nodes } },
    ...document.fragments.values(),
  ],
});
