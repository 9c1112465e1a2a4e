import type { Caller } from '#kernel';
import type { AccessControl } from '../../access/contract.ts';
import type { RoutingService } from '../../http/contract.ts';
import type { SchemaService } from '../../schema/contract.ts';
import type { AnswerClient } from '../store/answer-store.ts';
import { type AnswerKeys, createAnswerKeys } from './answer-key.ts';
import { normalizeQueryString } from './query-text.ts';
import type { RequestContext } from './request-context.ts';
import { isGraphqlPath } from './request-kind.ts';

/** One request for an answer that may be stored. */
export interface ReadRequest {
  readonly keys: AnswerKeys;
  readonly caller: Caller;
  readonly client: AnswerClient;
  /** Versions of the permissions and of the schema that the keys are made of. */
  readonly versions: string;
}

/** Whether permissions and schema are still those of the keys. An answer that was made under others must not have these keys. */
export type PermissionCheck = (request: ReadRequest) => Promise<boolean>;

interface Deps {
  readonly access: Pick<AccessControl, 'permissions'>;
  readonly schema: Pick<SchemaService, 'snapshot'>;
  readonly routing: Pick<RoutingService, 'dependsOnHeaders'>;
}

/** Creates the keys of requests. */
export function createReadRequests({ access, schema, routing }: Deps) {
  return {
    async create(ctx: RequestContext, caller: Caller, body: string): Promise<ReadRequest> {
      const permissions = await access.permissions(caller);
      const { version } = await schema.snapshot();
      const isGraphql = isGraphqlPath(ctx.path);
      const dependsOnHeaders = routing.dependsOnHeaders(ctx.method, ctx.path);
      return {
        keys: createAnswerKeys({
          method: ctx.method,
          path: ctx.path,
          query: isGraphql ? ctx.querystring : normalizeQueryString(ctx.querystring),
          mediaType: isGraphql ? ctx.get('Accept') : '',
          headers: dependsOnHeaders ? JSON.stringify(ctx.req.headers) : '',
          address: dependsOnHeaders ? (caller.ip ?? '') : '',
          body,
          schemaVersion: version,
          permissions: permissions.digest,
          caller,
        }),
        caller,
        client: { id: caller.user ?? caller.ip ?? '', isSignedIn: caller.user !== null },
        versions: `${permissions.version}\n${version}`,
      };
    },
    isUnchanged: (async ({ caller, versions }) => {
      const permissions = await access.permissions(caller);
      return versions === `${permissions.version}\n${(await schema.snapshot()).version}`;
    }) satisfies PermissionCheck,
  };
}
