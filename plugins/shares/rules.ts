import { type Caller, type EventMeta, type EventsApi, fail, isSystem } from '#kernel';
import { type AccessControl, CONCEALED_VALUE_MASK, PUBLIC_ROLE_ID } from '../access/contract.ts';
import type { SessionService } from '../auth/contract.ts';
import type { InterProcessBus } from '../cluster/contract.ts';
import type { Db } from '../database/contract.ts';
import type { ItemsEngine } from '../items/contract.ts';
import type { FindReadableItem } from '../items/library.ts';
import { SHARES_COLLECTION } from './collections.ts';
import { createAssertDates } from './dates.ts';

type Payload = Readonly<Record<string, unknown>>;

interface Deps {
  readonly access: Pick<AccessControl, 'assertAllowed'>;
  readonly bus: Pick<InterProcessBus, 'waitForConfirmation'>;
  readonly db: Db;
  readonly findReadableItem: FindReadableItem;
  readonly items: Pick<ItemsEngine, 'itemPermissions'>;
  readonly sessions: Pick<SessionService, 'closeShares'>;
}

const MAX_USES = 2_147_483_647;
/** What a share is about, and who made it. */
const FIXED_FIELDS = ['collection', 'item', 'user_created'] as const;

/** Rules of shares for every caller and every way of writing them. */
export function registerShareWriteFilters(deps: Deps, events: EventsApi): void {
  const assertDates = createAssertDates(deps.db);

  async function filterCreate(raw: Payload, { caller }: EventMeta): Promise<Payload> {
    await deps.access.assertAllowed(caller, 'create', SHARES_COLLECTION);
    // Presets of a permission are applied after this filter and could not be checked, so these fields must be in the payload.
    const { times_used: _used, ...payload } = raw;
    const collection = textOf(payload, 'collection');
    const key = typeof payload.item === 'number' ? payload.item : textOf(payload, 'item');
    assertRole(caller, payload, 'create');
    assertValues(payload);
    await assertDates(payload, []);
    if (isSystem(caller)) return payload;
    const item = await deps.findReadableItem(caller, collection, key);
    if (!(await deps.items.itemPermissions(caller, collection, item.item)).share.access)
      throw fail('FORBIDDEN', `no share permission on the item of ${collection}`);
    return { ...payload, ...item };
  }

  async function filterUpdate(raw: Payload, { caller, keys }: EventMeta): Promise<Payload> {
    await deps.access.assertAllowed(caller, 'update', SHARES_COLLECTION);
    const { times_used: _used, ...payload } = raw;
    const shares = keys as readonly string[];
    const fixed = isSystem(caller) ? undefined : FIXED_FIELDS.find((name) => payload[name] !== undefined);
    if (fixed) throw invalid(fixed, 'cannot be changed');
    assertRole(caller, payload, 'update');
    assertValues(payload);
    await assertDates(payload, shares);
    const isNewPassword = payload.password !== undefined && payload.password !== CONCEALED_VALUE_MASK;
    // Who knew the former password has to sign in by the new one.
    if (isNewPassword) await deps.sessions.closeShares(shares);
    deps.db.answerAfter(deps.bus.waitForConfirmation);
    return payload;
  }

  events.onFilter('shares.create', (payload, meta) => filterCreate(payload as Payload, meta));
  events.onFilter('shares.update', (payload, meta) => filterUpdate(payload as Payload, meta));
  events.onFilter('shares.delete', async (payload, { caller }) => {
    await deps.access.assertAllowed(caller, 'delete', SHARES_COLLECTION);
    // Sessions are locked before their share, as by a refresh.
    await deps.sessions.closeShares(payload as readonly string[]);
    deps.db.answerAfter(deps.bus.waitForConfirmation);
  });
}

/**
 * A caller who is no admin gives visitors the rights of the own role, and no others.
 * @throws INVALID_PAYLOAD without a role, FORBIDDEN for another role
 */
function assertRole(caller: Caller, { role }: Payload, action: 'create' | 'update'): void {
  if (caller.admin || isSystem(caller) || (action === 'update' && role === undefined)) return;
  if (typeof role !== 'string') throw invalid('role', 'must be the key of your role');
  if (role.toLowerCase() !== (caller.role ?? PUBLIC_ROLE_ID))
    throw fail('FORBIDDEN', 'a share has the role of its creator');
}

function assertValues({ password, max_uses: uses }: Payload): void {
  const isUses = typeof uses === 'number' && Number.isInteger(uses) && uses >= 1 && uses <= MAX_USES;
  if (uses !== undefined && uses !== null && !isUses) throw invalid('max_uses', 'must be a whole number from 1 on');
  if (password !== undefined && password !== null && (typeof password !== 'string' || password === ''))
    throw invalid('password', 'must be a text that is not empty');
}

function textOf(payload: Payload, field: string): string {
  const value = payload[field];
  if (typeof value !== 'string' || value === '') throw invalid(field, 'must be a text');
  return value;
}

const invalid = (field: string, what: string) => fail('INVALID_PAYLOAD', `${field} ${what}.`, { field, path: [field] });
