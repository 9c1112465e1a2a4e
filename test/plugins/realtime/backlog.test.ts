import { expect } from 'chai';
import { Backlog } from '../../../plugins/realtime/subscriptions/backlog.ts';

const change = (event: 'create' | 'update' | 'delete', key: string, position: string) =>
  ({
    kind: 'change',
    event,
    rows: [{ key, json: key, text: event === 'delete' ? undefined : '{}' }],
    position,
  }) as const;

describe('what a slow client has not got yet', () => {
  it('has the new position only with its last delivery', () => {
    const backlog = new Backlog();
    backlog.add(change('update', '1', 'p1'));
    backlog.add(change('delete', '2', 'p2'));
    backlog.add(change('create', '3', 'p3'));
    const taken = backlog.take('p0').map((one) => [one.kind === 'change' ? one.event : one.kind, one.position]);
    expect(taken).to.deep.equal([
      ['delete', 'p0'],
      ['create', 'p0'],
      ['update', 'p3'],
    ]);
    backlog.add(change('create', '4', 'p4'));
    expect(backlog.take('p3').map(({ position }) => position)).to.deep.equal(['p4']);
  });
});
