import type { JsonSchema } from '../http/contract.ts';

/** An operation of an OpenAPI document, as far as it is made here. */
export interface OpenApiOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly JsonSchema[];
  readonly requestBody?: JsonSchema;
  readonly responses: Readonly<Record<string, JsonSchema>>;
  readonly security?: readonly JsonSchema[];
}

/** Operations by method in lower case; methods that OpenAPI 3.1 does not have are in `x-oai-additionalOperations`, by their name. */
export type OpenApiPathItem = Readonly<Record<string, OpenApiOperation | Readonly<Record<string, OpenApiOperation>>>>;

/** Of a tag with a collection: `x-collection` is its name. */
export interface OpenApiTag {
  readonly name: string;
  readonly description?: string;
  readonly 'x-collection'?: string;
}

/** An OpenAPI 3.1 document, which `GET /server/specs/oas` answers as it is (specification, "Server endpoints"). */
export interface OpenApiDocument {
  readonly openapi: string;
  /** `version` is a hash of the rest of the document. */
  readonly info: { readonly title: string; readonly description: string; readonly version: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly OpenApiTag[];
  readonly paths: Readonly<Record<string, OpenApiPathItem>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>;
  readonly security: readonly JsonSchema[];
}
