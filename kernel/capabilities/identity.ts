import type { Context } from 'koa';
import { type Caller, type CallerFields, isCaller, mintCaller, mintPublicCaller } from '../caller.ts';
import { closedObjectSchema, nonEmptyListSchema } from '../manifest/schema.ts';
import { setRequestCaller } from '../request-state.ts';
import { authorities, type Capability, listsWiden } from './capability.ts';
import type { Ledger } from './ledger.ts';

/** Why a caller may be minted: a token or session, the key of a user, a shared link, no evidence, or a statement of full-authority code. */
const EVIDENCE = ['token', 'user', 'share', 'public', 'accountability'] as const;
type Evidence = (typeof EVIDENCE)[number];

/** What a plugin with the `identity` capability holds. Each caller it mints is counted in the ledger. */
export interface IdentityApi {
  /** @throws CAPABILITY_DENIED for evidence that the manifest does not list. With the evidence `public` the rights in `fields` are ignored. */
  mint(evidence: Evidence, fields: CallerFields): Caller;
  /** Sets the caller of the request; the rest of the request runs on its behalf. */
  identify(ctx: Context, caller: Caller): void;
}

type IdentityGrant = { readonly evidence: readonly Evidence[] };

export const identityCapability = (ledger: Ledger): Capability<IdentityGrant, IdentityApi> => ({
  name: 'identity',
  member: 'identity',
  coreOnly: true,
  schema: closedObjectSchema({ evidence: { ...nonEmptyListSchema({ enum: EVIDENCE }), uniqueItems: true } }),
  bind: ({ evidence }, { name }) => {
    const count = (kind: Evidence) => {
      if (!evidence.includes(kind)) throw ledger.deny('identity', name, `mint a caller from ${kind}`);
      ledger.record('identity', name, kind);
    };
    return {
      mint(kind, fields) {
        count(kind);
        return kind === 'public' ? mintPublicCaller(fields) : mintCaller(fields);
      },
      identify(ctx, caller) {
        if (!isCaller(caller))
          throw ledger.deny('identity', name, 'identify a request as what the kernel did not mint');
        setRequestCaller(ctx, caller);
      },
    };
  },
  describe: ({ evidence }) => evidence.flatMap((kind) => authorities('identifies callers as', [`from ${kind}`])),
  widens: listsWiden,
});
