import type { Caller } from '#kernel';
import type { Payload } from '../items/contract.ts';
import type { Inspected } from '../media/contract.ts';
import { FILES, type Files } from './contract.ts';
import type { Deps } from './deps.ts';
import type { Ledger } from './ledger.ts';
import { presetsOf } from './rules/presets.ts';
import { captionsFor, derived, typeOf } from './upload/derive.ts';
import { look } from './upload/look.ts';
import { createPlans, type Plan } from './upload/plan.ts';
import { receive, tooLarge } from './upload/receive.ts';

interface FilesDeps extends Deps {
  readonly ledger: Ledger;
  /** Waits until what is loose has been removed, within bounds. */
  readonly swept: () => Promise<void>;
}

type Write = (found: Inspected, values: Payload) => Promise<{ readonly key: string; readonly payload: Payload }>;

/** Bytes first, row second: a row never names an object that is not there, and the ledger names what has no row yet. */
export function createFiles(deps: FilesDeps): Files {
  const { access, config, db, events, items, ledger, log, media, swept } = deps;
  const plans = createPlans(deps);

  async function take(caller: Caller, plan: Plan, bytes: AsyncIterable<Uint8Array>, write: Write): Promise<string> {
    const entry = await ledger.open(plan.location, plan.object);
    try {
      const received = await receive(plan, bytes, log);
      const found = await look({ media, log }, plan.location, plan.object, received, plan.declared?.type);
      for (const type of [typeOf(plan, found), found.type]) if (type !== undefined) plans.checkType(type);
      const key = await db.transaction(async () => {
        await entry.settle();
        const written = await write(found, derived(plan, received, found, config));
        events.action(['files.upload'], { caller, collection: FILES, ...written });
        return written.key;
      });
      entry.done();
      return key;
    } catch (error) {
      await entry.abandon();
      throw error;
    }
  }

  function outsideOfUnits(): void {
    if (db.isInside()) throw new Error('bytes are taken outside of units of work: they may be long in coming');
  }

  return {
    async create(caller, { bytes, ...about }, options = {}) {
      outsideOfUnits();
      const plan = await plans.toCreate(caller, about, options);
      return take(caller, plan, bytes, async (found, values) => {
        const presets = await presetsOf(access, caller);
        const isOpen = (name: string) => !Object.hasOwn(plan.payload, name) && !Object.hasOwn(presets, name);
        const given = { ...plan.given, ...values, ...captionsFor(isOpen, found), type: typeOf(plan, found) };
        const key = await events.quietly(() => items.createOne(caller, FILES, plan.payload, { given }));
        return { key: String(key), payload: { ...plan.payload, ...given } };
      });
    },

    async replace(caller, id, { bytes, ...about }, options = {}) {
      outsideOfUnits();
      const plan = await plans.toReplace(caller, id, about, options);
      const key = await take(caller, plan, bytes, async (found, values) => {
        const payload = { ...plan.payload, type: typeOf(plan, found) };
        const given = { ...plan.given, ...values };
        const changed = await events.quietly(() => items.updateOne(caller, FILES, plan.id, payload, { given }));
        return { key: String(changed), payload: { ...payload, ...given } };
      });
      await swept();
      return key;
    },

    async check(caller, { size, ...about }, id) {
      const { limit } =
        id === undefined ? await plans.toCreate(caller, about, {}) : await plans.toReplace(caller, id, about, {});
      if (size !== undefined && size > limit) throw tooLarge(limit, size);
    },
  };
}
