import type { Caller } from '#kernel';
import type { ItemsEngine } from '../../items/contract.ts';
import type { JsonObject } from '../contract.ts';
import type { PartChange, SnapshotPart } from './part.ts';
import { requireMember, withDefaults } from './record-members.ts';
import { maskSecrets, unmaskSecrets } from './secrets.ts';

const FLOWS = 'platform_flows';
const OPERATIONS = 'platform_operations';

const FLOW_DEFAULTS: JsonObject = {
  id: null,
  name: null,
  icon: null,
  color: null,
  description: null,
  status: 'active',
  trigger: null,
  accountability: 'all',
  options: null,
  operation: null,
};
const OPERATION_DEFAULTS: JsonObject = {
  id: null,
  key: null,
  name: null,
  type: null,
  position_x: null,
  position_y: null,
  options: null,
  resolve: null,
  reject: null,
};

const operationsOf = (flow: JsonObject | null): readonly JsonObject[] =>
  Array.isArray(flow?.operations) ? (flow.operations as readonly JsonObject[]) : [];

const byId = (a: JsonObject, b: JsonObject): number => (String(a.id) < String(b.id) ? -1 : 1);

function completeFlow(flow: JsonObject): JsonObject {
  const operations = operationsOf(flow).map((one) => withDefaults(one, OPERATION_DEFAULTS));
  return { ...withDefaults(flow, FLOW_DEFAULTS), operations: operations.toSorted(byId) };
}

/** Flows with their operations, by id. Secrets in options are masked. */
export function createFlowsPart(items: ItemsEngine): SnapshotPart {
  const fields = [
    ...Object.keys(FLOW_DEFAULTS),
    ...Object.keys(OPERATION_DEFAULTS).map((name) => `operations.${name}`),
  ];
  const readStored = async (caller: Caller) => {
    const rows = await items.rows<JsonObject>(caller, FLOWS, {
      fields,
      deep: { operations: { _limit: -1 } },
      limit: -1,
    });
    return rows.map(completeFlow).sort(byId);
  };

  /** Links of a chain are unique, so all are removed before some change. */
  async function unlink(caller: Caller, { before }: PartChange): Promise<void> {
    const keys = operationsOf(before).map(({ id }) => id);
    await items.updateOne(caller, FLOWS, before?.id, { operation: null });
    if (keys.length > 0) await items.updateMany(caller, OPERATIONS, keys, { resolve: null, reject: null });
  }

  async function write(caller: Caller, { before, after }: PartChange, stored: unknown): Promise<void> {
    const flow = unmaskFlow(after as JsonObject, stored as JsonObject | undefined);
    const operations = operationsOf(flow).map((one) => ({ ...one, resolve: null, reject: null }));
    const payload = { ...flow, operation: null, operations };
    if (before) await items.updateOne(caller, FLOWS, flow.id, payload);
    else await items.createOne(caller, FLOWS, payload);
  }

  async function link(caller: Caller, { after }: PartChange): Promise<void> {
    const linked = operationsOf(after).filter(({ resolve, reject }) => resolve !== null || reject !== null);
    if (linked.length > 0) {
      const links = linked.map(({ id, resolve, reject }) => ({ id, resolve, reject }));
      await items.updateEach(caller, OPERATIONS, links);
    }
    if (after?.operation) await items.updateOne(caller, FLOWS, after.id, { operation: after.operation });
  }

  return {
    name: 'flows',
    deletes: true,
    idOf: (record) => requireMember(record, 'id', 'flows'),
    read: async (caller) => (await readStored(caller)).map(maskFlow),
    // A mask of a secret that this database does not have is no difference: it cannot be written.
    complete(record, current) {
      const flow = completeFlow(record);
      const known = current.find(({ id }) => id === flow.id);
      return known ? unmaskFlow(flow, known) : flow;
    },
    async apply(caller, changes) {
      const stored = new Map((await readStored(caller)).map((flow) => [flow.id, flow]));
      const deleted = changes.filter(({ after }) => !after).map(({ id }) => id);
      if (deleted.length > 0) await items.deleteMany(caller, FLOWS, deleted);
      const written = changes.filter(({ after }) => after);
      for (const change of written) if (change.before) await unlink(caller, change);
      for (const change of written) await write(caller, change, stored.get(change.id));
      for (const change of written) await link(caller, change);
    },
  };
}

/** Only options hold secrets. */
const maskFlow = (flow: JsonObject): JsonObject => ({
  ...flow,
  options: maskSecrets(flow.options),
  operations: operationsOf(flow).map((one) => ({ ...one, options: maskSecrets(one.options) })),
});

function unmaskFlow(flow: JsonObject, stored: JsonObject | undefined): JsonObject {
  const options = (one: JsonObject, other: JsonObject | undefined) => ({
    ...one,
    options: unmaskSecrets(one.options, other?.options) ?? null,
  });
  const known = new Map(operationsOf(stored ?? null).map((one) => [one.id, one]));
  return {
    ...options(flow, stored),
    operations: operationsOf(flow).map((one) => options(one, known.get(one.id))),
  };
}
