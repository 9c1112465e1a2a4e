import { expect } from 'chai';
import { type SchemaFixture, withSchemaFixture } from './schema-fixture.ts';

type Meta = Readonly<Record<string, unknown>>;
interface Event {
  readonly kind: 'filter' | 'action';
  readonly event: string;
  readonly payload: Meta;
  readonly meta: Meta;
}

/** Runs `work` and returns the events of collections, fields and relations it emits; `change` is called as their filter. */
async function recordEvents(
  work: (probe: SchemaFixture) => Promise<void>,
  change: (event: string, payload: Meta) => unknown = () => undefined,
): Promise<readonly Event[]> {
  const kept: Event[] = [];
  await withSchemaFixture('', work, {
    register({ events: bus }) {
      for (const kind of ['collections', 'fields', 'relations'])
        for (const verb of ['create', 'update', 'delete']) {
          bus.onFilter(`${kind}.${verb}`, (payload, meta) => {
            kept.push({ kind: 'filter', event: meta.event, payload: structuredClone(payload) as Meta, meta });
            return change(meta.event, payload as Meta);
          });
          bus.onAction(`${kind}.${verb}`, (meta) => {
            kept.push({ kind: 'action', event: meta.event, payload: meta.payload as Meta, meta });
          });
        }
    },
  });
  return kept;
}

async function changeEverything({ writes, admin }: SchemaFixture): Promise<void> {
  await writes.createCollection(admin, { collection: 'a', schema: {}, meta: { note: 'made', icon: 'box' } });
  await writes.updateCollection(admin, 'a', { meta: { note: 'changed' } });
  await writes.createField(admin, 'a', { field: 'b', type: 'integer', meta: { note: 'made', width: 'half' } });
  await writes.updateField(admin, 'a', 'b', { meta: { note: 'changed' } });
  await writes.createRelation(admin, {
    collection: 'a',
    field: 'b',
    related_collection: 'a',
    meta: { one_deselect_action: 'delete' },
  });
  await writes.updateRelation(admin, 'a', 'b', { meta: { one_deselect_action: 'nullify' } });
  await writes.deleteRelation(admin, 'a', 'b');
  await writes.deleteField(admin, 'a', 'b');
  await writes.deleteCollection(admin, 'a');
}

describe('events of schemaWrites', () => {
  it('a payload has the members of "meta" itself too, in filters and actions', async () => {
    const kept = await recordEvents(changeEverything);
    const payloads = (event: string) => kept.filter((one) => one.event === event).map(({ payload }) => payload);
    for (const kind of ['collections', 'fields']) {
      for (const [verb, note] of [
        ['create', 'made'],
        ['update', 'changed'],
      ]) {
        const both = payloads(`${kind}.${verb}`);
        expect(both, `${kind}.${verb}`).to.have.length(2);
        for (const payload of both) {
          expect(payload.note, `${kind}.${verb}`).to.equal(note);
          expect((payload.meta as Meta).note, `${kind}.${verb}`).to.equal(note);
        }
      }
    }
    for (const payload of payloads('relations.update')) expect(payload.one_deselect_action).to.equal('nullify');
    for (const payload of payloads('fields.create')) expect(payload).to.include({ field: 'b', type: 'integer' });
  });

  it('an event collections.* names platform_collections, and the collection as its key', async () => {
    const kept = await recordEvents(changeEverything);
    const ofCollections = kept.filter(({ event }) => event.startsWith('collections.'));
    expect(ofCollections).to.have.length(6);
    for (const { event, meta } of ofCollections) expect(meta.collection, event).to.equal('platform_collections');
    const deleted = kept.filter(({ event }) => event === 'collections.delete');
    for (const { meta, payload } of deleted) {
      expect(meta.keys).to.deep.equal(['a']);
      expect(payload).to.deep.equal(['a']);
    }
    expect(kept.find(({ event, kind }) => event === 'collections.create' && kind === 'action')?.meta.key).to.equal('a');
  });

  it('an event of a field or a relation names its collection', async () => {
    const kept = await recordEvents(changeEverything);
    for (const { event, meta } of kept.filter(({ event }) => /^(fields|relations)\.(update|delete)/.test(event)))
      expect(meta, event).to.deep.include({ collection: 'a', keys: ['b'] });
  });

  const CHANGES: readonly [how: string, change: (payload: Meta) => unknown, note: string | null][] = [
    ['the flat form', (payload) => ({ ...payload, note: 'mine' }), 'mine'],
    ['"meta"', (payload) => ({ ...payload, meta: { ...(payload.meta as Meta), note: 'mine' } }), 'mine'],
    ['the flat form of the payload in place', (payload) => void Object.assign(payload, { note: 'mine' }), 'mine'],
    ['"meta" of a copy of the payload', (payload) => mergeMeta(structuredClone(payload), { note: 'mine' }), 'mine'],
    ['nothing', () => undefined, 'asked'],
  ];
  for (const [how, change, note] of CHANGES) {
    it(`a filter may change ${how}`, async () => {
      await recordEvents(
        async (probe) => {
          const { writes, admin } = probe;
          const meta = { note: 'asked', display_template: '{{x}}' };
          await writes.createCollection(admin, { collection: 'a', schema: {}, meta });
          await writes.createField(admin, 'a', {
            field: 'b',
            type: 'string',
            meta: { note: 'asked', options: { x: 1 } },
          });
          expect((await probe.collection('a')).meta).to.deep.include({ note, display_template: '{{x}}' });
          expect((await probe.field('a', 'b')).meta).to.deep.include({ note, options: { x: 1 } });
          await writes.updateField(admin, 'a', 'b', { meta: { note: 'asked' } });
          expect((await probe.field('a', 'b')).meta).to.deep.include({ note, options: { x: 1 } });
        },
        (_event, payload) => change(payload),
      );
    });
  }

  it('a filter may add a member that the request does not have', async () => {
    await recordEvents(
      async (probe) => {
        await probe.writes.createCollection(probe.admin, { collection: 'a', schema: {} });
        expect((await probe.collection('a')).meta).to.include({ icon: 'added' });
      },
      (event, payload) => (event === 'collections.create' ? { ...payload, icon: 'added' } : undefined),
    );
  });
});

const mergeMeta = (payload: Meta, more: Meta): Meta => ({ ...payload, meta: { ...(payload.meta as Meta), ...more } });
