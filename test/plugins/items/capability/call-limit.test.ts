import { expect } from 'chai';
import type { BrokerRefusal } from '../../../../plugins/broker/library.ts';
import { createCallLimit } from '../../../../plugins/items/capability/call-limit.ts';
import { createKeyedSemaphores } from '../../../../plugins/workers/library.ts';
import { captureError } from '../../../support/test-plugins.ts';

describe('createCallLimit', () => {
  const always = new AbortController().signal;

  it('rejects with timeout where the call ends while it waits for a free place', async () => {
    const inPlace = createCallLimit(createKeyedSemaphores({ limit: 1 }));
    const held = Promise.withResolvers<string>();
    const first = inPlace('ext', always, () => held.promise);
    const leaving = new AbortController();
    const left = captureError<BrokerRefusal>(inPlace('ext', leaving.signal, async () => 'b'));
    const last = inPlace('ext', always, async () => 'c');
    leaving.abort();
    expect(await left).to.include({ code: 'timeout' });
    expect(await captureError<BrokerRefusal>(inPlace('ext', leaving.signal, async () => 'd'))).to.include({
      code: 'timeout',
    });
    held.resolve('a');
    expect(await Promise.all([first, last])).to.deep.equal(['a', 'c']);
  });

  it('rethrows the error of the call', async () => {
    const inPlace = createCallLimit();
    const failing = inPlace('ext', always, async () => {
      throw new Error('the work');
    });
    expect((await captureError(failing)).message).to.equal('the work');
  });
});
