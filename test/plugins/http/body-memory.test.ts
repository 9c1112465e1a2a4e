import { expect } from 'chai';
import { type BodyReservation, UnfinishedBodyMemoryBudget } from '../../../plugins/http/body-memory.ts';

const KIB = 1024;
const LIMIT = 1024 * KIB;

describe('UnfinishedBodyMemoryBudget, which counts bodies that have not arrived completely', () => {
  let memory: UnfinishedBodyMemoryBudget;
  let refused: string[];
  beforeEach(() => {
    memory = new UnfinishedBodyMemoryBudget(LIMIT);
    refused = [];
  });

  const open = (name: string, address: string, length?: number): BodyReservation =>
    memory.reserve(address, () => refused.push(name), length);

  it('counts the first part of a body before it arrives, and only once', () => {
    const body = open('a', '::1', 900 * KIB);
    expect(memory.usedBytes).to.equal(64 * KIB);
    body.add(10 * KIB);
    expect(memory.usedBytes).to.equal(64 * KIB);
    body.add(90 * KIB);
    expect(memory.usedBytes).to.be.within(100 * KIB, 101 * KIB);
    body.release();
    expect(memory.usedBytes).to.equal(0);
  });

  it('refuses the largest body of an address that holds more than half, although there is room', () => {
    open('small', '::1').add(100 * KIB);
    open('large', '::1').add(300 * KIB);
    open('other', '::2').add(300 * KIB);
    open('next', '::1').add(200 * KIB);
    expect(refused).to.deep.equal(['large']);
    expect(memory.usedBytes).to.be.below(LIMIT);
  });

  it('refuses the largest body of the address that holds most when the limit is exceeded', () => {
    open('a', '::1').add(500 * KIB);
    open('b', '::2').add(400 * KIB);
    open('c', '::3').add(200 * KIB);
    expect(refused).to.deep.equal(['a']);
  });

  it('the memory is near its limit before an address holds its half, and before all is held', () => {
    const first = open('a', '::1');
    first.add(350 * KIB);
    expect(memory.isNearLimit).to.equal(false);
    first.add(100 * KIB);
    expect(memory.isNearLimit).to.equal(true);
    first.release();
    for (const address of ['::2', '::3', '::4']) open(address, address).add(300 * KIB);
    expect([memory.isNearLimit, refused]).to.deep.equal([true, []]);
  });

  it('allows an address that holds a quarter to begin small bodies only, and other addresses large ones', () => {
    open('a', '::1').add(LIMIT / 4);
    expect(() => memory.assertAvailable('::1', 65 * KIB)).to.throw('Too many requests');
    expect(() => memory.assertAvailable('::1', Number.POSITIVE_INFINITY)).to.throw('Too many requests');
    memory.assertAvailable('::1', 64 * KIB);
    memory.assertAvailable('::2', 900 * KIB);
  });
});
