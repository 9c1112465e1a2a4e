import { expect } from 'chai';
import { fetchFrom } from '../../../plugins/files/import/fetch.ts';
import { nameAt } from '../../../plugins/files/import/name.ts';
import { createPatience } from '../../../plugins/files/import/patience.ts';
import type { OutboundRequest, OutboundStream } from '../../../plugins/outbound/contract.ts';
import { failureOf } from '../../support/plugin.ts';

const never = new Promise<never>(() => {});
const wanted = new AbortController().signal;

describe('files: imports', () => {
  it('take the name of the last part of a path', () => {
    const name = (path: string) => nameAt(new URL(path, 'http://a.example/'));
    expect(name('/a/b%20c.txt?d=e.txt#f')).to.equal('b c.txt');
    expect(name('/a/b/')).to.equal('b');
    expect(name('/')).to.equal(undefined);
    expect(name('/..%2f..%2fetc%2fpasswd')).to.equal('passwd');
    expect(name('/a%5Cb.txt')).to.equal('b.txt');
    expect(name('/%ff.txt')).to.equal('%ff.txt');
  });

  describe('wait', () => {
    it('so long for one thing, and so long for all of it', async () => {
      const impatient = createPatience({ timeout: 5000, stall: 50 }, wanted);
      const ended = new Promise((resolve) => impatient.signal.addEventListener('abort', resolve));
      void impatient.waiting(never);
      await ended;
      expect(impatient.over()).to.deep.include({
        code: 'OUT_OF_TIME',
        extensions: { category: 'import', duration: 50 },
      });

      const short = createPatience({ timeout: 80, stall: 5000 }, wanted);
      const over = new Promise((resolve) => short.signal.addEventListener('abort', resolve));
      for (let at = 0; at < 3; at++) await short.waiting(Promise.resolve());
      void short.waiting(never);
      await over;
      expect(short.over()?.extensions).to.deep.equal({ category: 'import', duration: 80 });
    });

    it('no longer than somebody wants the result', () => {
      const leaving = new AbortController();
      const { signal, over } = createPatience({ timeout: 1000, stall: 1000 }, leaving.signal);
      leaving.abort();
      expect([signal.aborted, over()]).to.deep.equal([true, undefined]);
    });
  });

  describe('from an outside that is slow or leaves', () => {
    /** One part, and then what the test wants. */
    function outside(then: () => Promise<IteratorResult<Uint8Array>>, status = 200) {
      const seen: OutboundRequest[] = [];
      const left: number[] = [];
      const open = async (request: OutboundRequest): Promise<OutboundStream> => {
        seen.push(request);
        let count = 0;
        const next = () => (count++ === 0 ? Promise.resolve({ value: Buffer.from('x') }) : then());
        const body = { next, return: async () => ({ done: true as const, value: left.push(1) }) };
        return { status, headers: {}, body: { [Symbol.asyncIterator]: () => body } as never };
      };
      return { outbound: { open }, seen, left };
    }
    const at = new URL('http://a.example/a.txt');

    it('stop at the part that does not come', async () => {
      const patience = createPatience({ timeout: 5000, stall: 50 }, wanted);
      const { outbound, left } = outside(
        () =>
          new Promise((_resolve, reject) => patience.signal.addEventListener('abort', () => reject(new Error('cut')))),
      );
      const { bytes } = await fetchFrom(at, { outbound, patience, maxBytes: 100 });
      const failure = await failureOf(async () => {
        for await (const _part of bytes);
      });
      expect([failure.message, patience.over()?.code, left.length]).to.deep.equal(['cut', 'OUT_OF_TIME', 1]);
    });

    it('let go of answers that nobody reads', async () => {
      const patience = createPatience({ timeout: 5000, stall: 50 }, wanted);
      const { outbound, left } = outside(() => never, 404);
      expect((await failureOf(fetchFrom(at, { outbound, patience, maxBytes: 100 }))).code).to.equal(
        'SERVICE_UNAVAILABLE',
      );
      expect(left).to.have.length(1);
    });

    it('reach into private networks, at every hop', async () => {
      const patience = createPatience({ timeout: 5000, stall: 5000 }, wanted);
      const { outbound, seen } = outside(async () => ({ done: true, value: undefined }));
      const redirecting = async (request: OutboundRequest): Promise<OutboundStream> => {
        const answer = await outbound.open(request);
        return seen.length > 1 ? answer : { ...answer, status: 302, headers: { location: '/b.txt' } };
      };
      await fetchFrom(at, { outbound: { open: redirecting }, patience, maxBytes: 100 });
      expect(seen.map(({ url, reach }) => [url.pathname, reach])).to.deep.equal([
        ['/a.txt', 'private'],
        ['/b.txt', 'private'],
      ]);
    });

    it('are not slow where it is the reader who takes his time', async () => {
      const patience = createPatience({ timeout: 5000, stall: 50 }, wanted);
      const { outbound } = outside(async () => ({ done: true, value: undefined }));
      const { bytes } = await fetchFrom(at, { outbound, patience, maxBytes: 100 });
      for await (const _part of bytes) await new Promise((resolve) => setTimeout(resolve, 120));
      expect(patience.over()).to.equal(undefined);
    });
  });
});
