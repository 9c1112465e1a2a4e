import { type Caller, fail } from '#kernel';
import type { ServiceClass } from '../extensions-full/contract.ts';
import type { GraphqlScope } from './contract.ts';
import type { GraphqlEngine } from './engine.ts';
import type { GraphqlResponse } from './execute/operation-and-response-types.ts';
import type { GraphqlCall } from './http/answer-request.ts';
import { parseGraphqlRequestMembers } from './http/request.ts';

type LoadEngine = () => Promise<GraphqlEngine>;

const toScope = (value: unknown): GraphqlScope => (value === 'system' ? 'system' : 'items');

/** Classes of code with full authority: documents run by `GraphQLService`, and the schema in the schema language. */
export const graphqlServiceClasses = (engine: LoadEngine): readonly ServiceClass[] => [
  {
    name: 'GraphQLService',
    methods: {
      async execute(caller, [params], { scope }) {
        const request = parseGraphqlRequestMembers(await toRequestMembers(params));
        return toResult(await (await engine()).run(toScope(scope), request, createCall(caller)));
      },
      getSchema: async (caller, _args, { scope }) => (await engine()).sdl(caller, toScope(scope)),
    },
  },
  {
    name: 'SpecificationService',
    methods: { 'graphql.generate': async (caller, [scope]) => (await engine()).sdl(caller, toScope(scope)) },
  },
];

/** `execute({ document, variables, operationName })`: the document is a text, as `query` too, or what a parser made of one. */
async function toRequestMembers(params: unknown) {
  const { document, query, variables, operationName } = (params ?? {}) as Readonly<Record<string, unknown>>;
  const source = document ?? query;
  return {
    query: typeof source === 'object' && source !== null ? await printDocument(source) : source,
    variables,
    operationName,
  };
}

async function printDocument(document: object): Promise<string> {
  const { print } = await import('graphql');
  try {
    return print(document as Parameters<typeof print>[0]);
  } catch (error) {
    throw fail('INVALID_PAYLOAD', `"document" is no GraphQL document: ${(error as Error).message}`);
  }
}

const createCall = (caller: Caller): GraphqlCall => ({
  caller,
  allowsMutations: true,
  get ctx(): never {
    throw fail('INVALID_PAYLOAD', 'This field answers requests of clients only.');
  },
});

/** `{ data, errors? }`, errors of fields included. */
async function toResult(response: GraphqlResponse): Promise<unknown> {
  if (response.kind === 'text') return JSON.parse(response.text);
  const parts: Uint8Array[] = [];
  for await (const part of response.parts) parts.push(Buffer.from(part));
  return JSON.parse(Buffer.concat(parts).toString());
}
