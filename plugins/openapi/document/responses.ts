import { ERRORS, type ErrorCode } from '#kernel';
import type { JsonSchema, SchemaByMediaType } from '../../http/contract.ts';
import { errorCodesOf, schemaRef } from '../../http/library.ts';
import type { DocumentedRoute } from './documented-route.ts';
import { hashName } from './names.ts';
import type { ReplaceRows } from './schemas-of-rows.ts';

const JSON_TYPE = 'application/json';

/** Descriptions of answers, which OpenAPI requires. */
const STATUS_TEXTS: Readonly<Record<number, string>> = {
  200: 'The answer.',
  201: 'Created.',
  204: 'Done; the answer has no body.',
  206: 'A part of the bytes.',
  302: 'A redirect.',
  303: 'A redirect.',
};

/** Renders the answers of operations, and collects the components that they share. */
export class ResponseRenderer {
  readonly #replaceRows: ReplaceRows;
  /** Components that operations refer to. */
  readonly components: Record<string, JsonSchema> = {
    NotModified: { description: 'The client has this answer: its entity tag is that of `If-None-Match`.' },
    OtherError: {
      description: 'An error of an extension, which refuses the request with a status and a code of its own.',
      content: { [JSON_TYPE]: { schema: schemaRef('OtherError') } },
    },
  };
  /** The schemas of bodies that responses refer to. */
  readonly schemas: Record<string, JsonSchema> = { OtherError: errorsSchema(undefined) };

  constructor(replaceRows: ReplaceRows) {
    this.#replaceRows = replaceRows;
  }

  /** Answers by status: those of the description, and its errors by the status of their codes. */
  render(route: Pick<DocumentedRoute, 'method' | 'description'>): Readonly<Record<string, JsonSchema>> {
    const { method, description } = route;
    const responses: Record<string, JsonSchema> = {};
    for (const [status, codes] of codesByStatus(errorCodesOf(route)))
      responses[status] = this.#errorReference(status, codes);
    for (const [status, content] of Object.entries(description.answers))
      responses[status] = this.#renderAnswer(Number(status), content);
    const hasContent = Object.keys(description.answers[200] ?? {}).length > 0;
    if (method === 'GET' && hasContent) responses[304] = reference('NotModified');
    return { ...responses, default: reference('OtherError') };
  }

  #renderAnswer(status: number, content: SchemaByMediaType): JsonSchema {
    const rendered = Object.entries(content).map(([type, schema]) => [
      type,
      { schema: this.#replaceRows(schema, 'answered') },
    ]);
    return {
      description: STATUS_TEXTS[status] ?? 'An error.',
      ...(rendered.length > 0 ? { content: Object.fromEntries(rendered) } : {}),
    };
  }

  #errorReference(status: number, codes: readonly ErrorCode[]): JsonSchema {
    const name = `Error${status}_${hashName(codes.join())}`;
    this.schemas[name] ??= errorsSchema(codes);
    this.components[name] ??= {
      description: `An error: ${codes.map((code) => `\`${code}\``).join(', ')}.`,
      content: { [JSON_TYPE]: { schema: schemaRef(name) } },
    };
    return reference(name);
  }
}

const reference = (name: string): JsonSchema => ({ $ref: `#/components/responses/${name}` });

function codesByStatus(codes: ReadonlySet<ErrorCode>): ReadonlyMap<number, readonly ErrorCode[]> {
  const found = new Map<number, ErrorCode[]>();
  for (const code of [...codes].sort()) {
    const { status } = ERRORS[code];
    found.set(status, [...(found.get(status) ?? []), code]);
  }
  return found;
}

/** The body of errors. Extensions may refuse a request with a code of their own. */
const errorsSchema = (codes: readonly ErrorCode[] | undefined): JsonSchema => ({
  type: 'object',
  required: ['errors'],
  properties: {
    errors: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['message', 'extensions'],
        properties: {
          message: { type: 'string' },
          extensions: {
            type: 'object',
            required: ['code'],
            properties: {
              code: codes
                ? {
                    anyOf: [
                      { type: 'string', enum: codes },
                      { type: 'string', description: 'A code of an extension.' },
                    ],
                  }
                : { type: 'string' },
            },
          },
        },
      },
    },
  },
});
