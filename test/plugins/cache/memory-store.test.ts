import { expect } from 'chai';
import { createAnswerKeys } from '../../../plugins/cache/request/answer-key.ts';
import type { FoundAnswer } from '../../../plugins/cache/store/answer-store.ts';
import { createMemoryStore } from '../../../plugins/cache/store/memory-store.ts';
import { WriteBudget } from '../../../plugins/cache/store/write-budget.ts';
import { TableChanges } from '../../../plugins/cache/tables/table-changes.ts';

const keysOf = (path: string, user: string | null = null) =>
  createAnswerKeys({
    method: 'GET',
    path,
    query: '',
    mediaType: '',
    body: '',
    schemaVersion: '1',
    permissions: '1',
    caller: { user, role: user && 'role', share: null },
  });
const ANONYMOUS = { id: '10.0.0.1', isSignedIn: false };
const OTHER = { id: '10.0.0.2', isSignedIn: false };

function createStore(maxSize = 1024 * 1024) {
  const changes = new TableChanges();
  const store = createMemoryStore(changes, maxSize);
  const find = (path: string, client = ANONYMOUS) => store.find(keysOf(path), client) as FoundAnswer;
  const put = (
    path: string,
    { bytes = 10, client = ANONYMOUS, position = changes.now, key = keysOf(path).shared } = {},
  ) =>
    store.put({
      key,
      answer: {
        body: Buffer.alloc(bytes, path),
        isCompressed: false,
        type: 'application/json',
        vary: '',
        expiresAt: Date.now() + 60_000,
        events: [],
      },
      position,
      relations: [1, 2],
      client,
    });
  const isKept = (path: string, client?: typeof ANONYMOUS) => find(path, client).answer !== undefined;
  return { changes, store, put, isKept };
}

describe('memory store of the response cache', () => {
  it('forgets an answer when one of its tables changes, and keeps it when another does', () => {
    const { changes, put, isKept } = createStore();
    put('/a');
    changes.record(3);
    expect(isKept('/a')).to.equal(true);
    changes.record(2);
    expect(isKept('/a')).to.equal(false);
  });

  it('does not take an answer whose read began before a change', () => {
    const { changes, put, isKept } = createStore();
    const position = changes.now;
    changes.record(1);
    put('/a', { position });
    expect(isKept('/a')).to.equal(false);
    const later = changes.now;
    changes.recordAll();
    put('/a', { position: later });
    expect(isKept('/a')).to.equal(false);
  });

  it('keeps the answer of one user from others', () => {
    const { put, store } = createStore();
    put('/a', { key: keysOf('/a', 'ann').user });
    expect((store.find(keysOf('/a', 'ann'), ANONYMOUS) as FoundAnswer).answer).to.not.equal(undefined);
    expect((store.find(keysOf('/a', 'bob'), ANONYMOUS) as FoundAnswer).answer).to.equal(undefined);
    expect((store.find(keysOf('/a'), ANONYMOUS) as FoundAnswer).answer).to.equal(undefined);
  });

  it('a client that asks for everything replaces no answer that another client uses', () => {
    const { put, isKept } = createStore();
    for (let at = 0; at < 20; at++) {
      put(`/useful/${at}`, { bytes: 10_000 });
      expect(isKept(`/useful/${at}`, OTHER)).to.equal(true);
    }
    for (let at = 0; at < 2000; at++) {
      put(`/random/${at}`, { bytes: 10_000 });
      isKept(`/random/${at}`);
      isKept(`/random/${at}`);
    }
    for (let at = 0; at < 20; at++) expect(isKept(`/useful/${at}`), `${at}`).to.equal(true);
  });
});

describe('write budget of a shared store', () => {
  it('bounds the bytes of one lifetime, and those of clients without a user to a quarter', () => {
    const budget = new WriteBudget(1000, 60_000);
    expect(budget.take(200, false)).to.equal(true);
    expect(budget.take(100, false)).to.equal(false);
    expect(budget.take(800, true)).to.equal(true);
    expect(budget.take(1, true)).to.equal(false);
  });
});
