import type { OpenApiDocument, OpenApiOperation, OpenApiPathItem } from '../../../plugins/openapi/contract.ts';
import { createAjv } from '../../support/route-descriptions.ts';
import type { RunningTestService } from '../../support/service.ts';

/** Reads the document of a caller. */
export async function readDocument(service: RunningTestService, token?: string): Promise<OpenApiDocument> {
  const { status, body } = await service.request('GET', '/server/specs/oas', { token });
  if (status !== 200) throw new Error(`the document is answered with ${status}`);
  return body;
}

export interface DocumentedOperation {
  /** As in requests: `GET`, `SEARCH`. */
  readonly method: string;
  readonly path: string;
  readonly operation: OpenApiOperation;
}

/** All operations of a document, those of methods that OpenAPI 3.1 does not have as well. */
export const listOperations = ({ paths }: OpenApiDocument): readonly DocumentedOperation[] =>
  Object.entries(paths).flatMap(([path, item]) => {
    const { 'x-oai-additionalOperations': additional = {}, ...standard } = item;
    return Object.entries({ ...standard, ...additional } as OpenApiPathItem).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation: operation as OpenApiOperation,
    }));
  });

/** Validates values by the schemas of a document: undefined where a value matches, else what does not. */
export function createSchemaCheck({
  components,
}: OpenApiDocument): (name: string, value: unknown) => string | undefined {
  const ajv = createAjv();
  ajv.addSchema(
    JSON.parse(JSON.stringify({ $id: 'document', $defs: components.schemas }), (key, value) =>
      key === '$ref' ? String(value).replace('#/components/schemas/', 'document#/$defs/') : value,
    ),
  );
  return (name, value) => {
    const validate = ajv.getSchema(`document#/$defs/${name}`);
    if (!validate) throw new Error(`the document has no schema ${name}`);
    return validate(value) ? undefined : ajv.errorsText(validate.errors, { dataVar: name });
  };
}
