import { expect } from 'chai';
import { encodeFrame, FrameError, FrameReader, MAX_FRAME_HEADER } from '../../sandbox/protocol/frames.ts';
import { parseChildMessage } from '../../sandbox/protocol/parse-child-message.ts';

interface Frame {
  readonly header: Record<string, unknown>;
  readonly body: string;
}

function reader(body = 1000): { frames: Frame[]; push(chunk: Buffer): void } {
  const frames: Frame[] = [];
  const inner = new FrameReader({ body }, (header, bytes) => frames.push({ header, body: bytes.toString('utf8') }));
  return { frames, push: (chunk) => inner.push(chunk) };
}

const announce = (header: number, body: number): Buffer => {
  const prefix = Buffer.alloc(8);
  prefix.writeUInt32BE(header, 0);
  prefix.writeUInt32BE(body, 4);
  return prefix;
};

const raw = (header: string, body = ''): Buffer =>
  Buffer.concat([announce(Buffer.byteLength(header), Buffer.byteLength(body)), Buffer.from(header), Buffer.from(body)]);

describe('encodeFrame and FrameReader', () => {
  it('frames are decoded as encoded, with text or byte bodies of any length', () => {
    const { frames, push } = reader(100_000);
    for (const body of ['', 'text – ü 😀', Buffer.from('bytes'), Buffer.alloc(50_000, 'x'), 'y'.repeat(50_000)]) {
      for (const part of encodeFrame({ type: 'x', n: 1 }, body)) push(part);
    }
    expect(frames.map(({ body }) => body.length)).to.eql([0, 11, 5, 50_000, 50_000]);
    expect(frames[1]).to.eql({ header: { type: 'x', n: 1 }, body: 'text – ü 😀' });
  });

  it('frames may be split at any byte', () => {
    const whole = Buffer.concat([1, 2, 3].flatMap((n) => encodeFrame({ n }, `body ${n}`)));
    for (let cut = 1; cut <= whole.length; cut++) {
      const { frames, push } = reader();
      for (let start = 0; start < whole.length; start += cut) push(whole.subarray(start, start + cut));
      expect(frames.map(({ header, body }) => [header.n, body])).to.eql([
        [1, 'body 1'],
        [2, 'body 2'],
        [3, 'body 3'],
      ]);
    }
  });

  it('a frame over the limit is refused at its announced length, and the reader takes nothing more', () => {
    for (const prefix of [
      announce(10, 2 ** 32 - 1),
      announce(10, 1001),
      announce(MAX_FRAME_HEADER + 1, 0),
      announce(0, 5),
    ]) {
      const { frames, push } = reader();
      expect(() => push(prefix)).to.throw(FrameError);
      expect(() => push(raw('{}'))).to.throw(FrameError);
      expect(frames).to.eql([]);
    }
    expect(() => encodeFrame({ long: 'x'.repeat(MAX_FRAME_HEADER) })).to.throw(FrameError);
  });

  it('the reader allocates memory for received bytes, not for announced ones', () => {
    const before = process.memoryUsage().arrayBuffers;
    const { push } = reader(2 ** 31);
    push(Buffer.concat([announce(10, 2 ** 31), Buffer.alloc(1000)]));
    for (let n = 0; n < 1000; n++) push(Buffer.alloc(1));
    expect(process.memoryUsage().arrayBuffers - before).to.be.below(2 ** 20);
  });

  it('a frame received byte by byte is copied only a few times', () => {
    const { frames, push } = reader(2 ** 20);
    const whole = raw('{"a":1}', 'x'.repeat(300_000));
    for (let n = 0; n < whole.length; n++) push(whole.subarray(n, n + 1));
    expect(frames[0]?.body.length).to.equal(300_000);
  });

  it('a header that is not a JSON object is refused', () => {
    for (const header of ['{', 'null', '[]', '1', '"x"', '{"a":1}x']) {
      expect(() => reader().push(raw(header)), header).to.throw(FrameError);
    }
  });
});

describe('parseChildMessage', () => {
  const entry = { key: '', id: 'orders', handler: true, filters: [], actions: [] };

  it('well-formed messages pass', () => {
    const messages = [
      { type: 'hello', protocol: 1 },
      { type: 'loaded', contract: [entry, { ...entry, key: 'hook:x', id: null, filters: ['items.create'] }] },
      { type: 'refused', code: 'timeout' },
      { type: 'result', id: 1 },
      { type: 'result', id: 1, none: true },
      { type: 'failure', id: 7, code: 'guest-error' },
      { type: 'call', id: 1, call: 0, method: 'log.info' },
    ];
    for (const message of messages) expect(parseChildMessage(message)).to.equal(message);
  });

  it('malformed messages are refused', () => {
    const names = (count: number): string[] => Array.from({ length: count }, (_, n) => `e${n}`);
    const messages: Record<string, unknown>[] = [
      {},
      { type: 'load' },
      { type: ['call'], id: 1, call: 1, method: 'items.readMany' },
      { type: 'hello' },
      { type: 'hello', protocol: '1' },
      { type: 'hello', protocol: 1, more: 1 },
      { type: 'result', id: 0 },
      { type: 'result', id: 1.5 },
      { type: 'result', id: '1' },
      { type: 'result', id: 2 ** 53 },
      { type: 'result', id: 1, none: false },
      { type: 'result', id: 1, extra: undefined },
      { type: 'failure', id: 1, code: 'internal' },
      { type: 'failure', id: 1, code: 'timeout', message: 'x' },
      { type: 'refused', code: 'crash' },
      { type: 'call', id: 1, call: -1, method: 'items.readMany' },
      { type: 'call', id: 1, call: 1, method: 'items.constructor.x' },
      { type: 'call', id: 1, call: 1, method: 'Items.readMany' },
      { type: 'call', id: 1, call: 1, method: '__proto__.x' },
      { type: 'call', id: 1, call: 1, method: `items.${'x'.repeat(33)}` },
      { type: 'call', id: 1, call: 1, method: 'items.readMany\n' },
      { type: 'call', id: 1, method: 'items.readMany' },
      { type: 'loaded', contract: {} },
      { type: 'loaded', contract: Array.from({ length: 65 }, () => entry) },
      { type: 'loaded', contract: [{ ...entry, more: 1 }] },
      { type: 'loaded', contract: [{ ...entry, id: 5 }] },
      { type: 'loaded', contract: [{ ...entry, key: 'x'.repeat(301) }] },
      { type: 'loaded', contract: [{ ...entry, filters: names(17) }] },
      { type: 'loaded', contract: [{ ...entry, actions: ['x'.repeat(129)] }] },
      { type: 'loaded', contract: [null] },
    ];
    for (const message of messages)
      expect(() => parseChildMessage(message), JSON.stringify(message)).to.throw(FrameError);
  });
});
