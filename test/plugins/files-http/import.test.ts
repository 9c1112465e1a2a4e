import { expect } from 'chai';
import { fetchFile } from '../../../plugins/files/import/fetch.ts';
import { createImportDeadline } from '../../../plugins/files/import/import-deadline.ts';
import { fileNameFromUrl } from '../../../plugins/files/import/name-from-url.ts';
import type { OutboundRequest, StreamedOutboundResponse } from '../../../plugins/outbound/contract.ts';
import { captureError } from '../../support/test-plugins.ts';

const never = new Promise<never>(() => {});
const clientSignal = new AbortController().signal;

describe('imports of files by URL', () => {
  it('fileNameFromUrl takes the last segment of the path, decoded', () => {
    const name = (path: string) => fileNameFromUrl(new URL(path, 'http://a.example/'));
    expect(name('/a/b%20c.txt?d=e.txt#f')).to.equal('b c.txt');
    expect(name('/a/b/')).to.equal('b');
    expect(name('/')).to.equal(undefined);
    expect(name('/..%2f..%2fetc%2fpasswd')).to.equal('passwd');
    expect(name('/a%5Cb.txt')).to.equal('b.txt');
    expect(name('/%ff.txt')).to.equal('%ff.txt');
  });

  describe('createImportDeadline', () => {
    it('the deadline fails with OUT_OF_TIME after the idle timeout of one step and after the timeout of the whole import', async () => {
      const idleDeadline = createImportDeadline({ timeout: 5000, idleTimeout: 50 }, clientSignal);
      const ended = new Promise((resolve) => idleDeadline.signal.addEventListener('abort', resolve));
      void idleDeadline.waitFor(never);
      await ended;
      expect(idleDeadline.timeoutFailure()).to.deep.include({
        code: 'OUT_OF_TIME',
        extensions: { category: 'import', duration: 50 },
      });

      const short = createImportDeadline({ timeout: 80, idleTimeout: 5000 }, clientSignal);
      const over = new Promise((resolve) => short.signal.addEventListener('abort', resolve));
      for (let at = 0; at < 3; at++) await short.waitFor(Promise.resolve());
      void short.waitFor(never);
      await over;
      expect(short.timeoutFailure()?.extensions).to.deep.equal({ category: 'import', duration: 80 });
    });

    it('the deadline aborts without a failure of its own when the client leaves', () => {
      const leaving = new AbortController();
      const { signal, timeoutFailure } = createImportDeadline({ timeout: 1000, idleTimeout: 1000 }, leaving.signal);
      leaving.abort();
      expect([signal.aborted, timeoutFailure()]).to.deep.equal([true, undefined]);
    });
  });

  describe('fetchFile', () => {
    /** A fake `outbound` whose response has one chunk; `then` supplies the rest. `left` records that the body was closed. */
    function outside(then: () => Promise<IteratorResult<Uint8Array>>, status = 200) {
      const seen: OutboundRequest[] = [];
      const left: number[] = [];
      const open = async (request: OutboundRequest): Promise<StreamedOutboundResponse> => {
        seen.push(request);
        let count = 0;
        const next = () => (count++ === 0 ? Promise.resolve({ value: Buffer.from('x') }) : then());
        const body = { next, return: async () => ({ done: true as const, value: left.push(1) }) };
        return { status, headers: {}, body: { [Symbol.asyncIterator]: () => body } as never };
      };
      return { outbound: { open }, seen, left };
    }
    const at = new URL('http://a.example/a.txt');

    it('fetchFile fails and closes the response when the next chunk does not arrive in time', async () => {
      const deadline = createImportDeadline({ timeout: 5000, idleTimeout: 50 }, clientSignal);
      const { outbound, left } = outside(
        () =>
          new Promise((_resolve, reject) => deadline.signal.addEventListener('abort', () => reject(new Error('cut')))),
      );
      const { bytes } = await fetchFile(at, { outbound, deadline, maxBytes: 100 });
      const failure = await captureError(async () => {
        for await (const _part of bytes);
      });
      expect([failure.message, deadline.timeoutFailure()?.code, left.length]).to.deep.equal(['cut', 'OUT_OF_TIME', 1]);
    });

    it('fetchFile closes the response of a server that answers 404', async () => {
      const deadline = createImportDeadline({ timeout: 5000, idleTimeout: 50 }, clientSignal);
      const { outbound, left } = outside(() => never, 404);
      expect((await captureError(fetchFile(at, { outbound, deadline, maxBytes: 100 }))).code).to.equal(
        'SERVICE_UNAVAILABLE',
      );
      expect(left).to.have.length(1);
    });

    it('fetchFile may reach private networks at every redirect', async () => {
      const deadline = createImportDeadline({ timeout: 5000, idleTimeout: 5000 }, clientSignal);
      const { outbound, seen } = outside(async () => ({ done: true, value: undefined }));
      const redirecting = async (request: OutboundRequest): Promise<StreamedOutboundResponse> => {
        const answer = await outbound.open(request);
        return seen.length > 1 ? answer : { ...answer, status: 302, headers: { location: '/b.txt' } };
      };
      await fetchFile(at, { outbound: { open: redirecting }, deadline, maxBytes: 100 });
      expect(seen.map(({ url, reach }) => [url.pathname, reach])).to.deep.equal([
        ['/a.txt', 'private'],
        ['/b.txt', 'private'],
      ]);
    });

    it('the idle timeout does not run while a slow reader holds a chunk', async () => {
      const deadline = createImportDeadline({ timeout: 5000, idleTimeout: 50 }, clientSignal);
      const { outbound } = outside(async () => ({ done: true, value: undefined }));
      const { bytes } = await fetchFile(at, { outbound, deadline, maxBytes: 100 });
      for await (const _part of bytes) await new Promise((resolve) => setTimeout(resolve, 120));
      expect(deadline.timeoutFailure()).to.equal(undefined);
    });
  });
});
